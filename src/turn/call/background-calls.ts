/** The background calls of a turn that run. */
export class BackgroundCalls {
  readonly #running = new Map<string, Promise<void>>()
  readonly #onFault: (error: unknown) => void
  #faults: unknown[] = []

  /** `onFault` is called at once for a call that could not be settled. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault
  }

  start(id: string, run: () => Promise<void>): void {
    const ended = run()
      .catch((error: unknown) => {
        this.#faults.push(error)
        this.#onFault(error)
      })
      .then(() => void this.#running.delete(id))
    this.#running.set(id, ended)
  }

  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  get isIdle(): boolean {
    return this.#running.size === 0
  }

  /** Resolves when one more call has ended. */
  async next(): Promise<void> {
    await Promise.race(this.#running.values())
  }

  /** Resolves when all have ended; throws if one of them could not be settled. */
  async ended(): Promise<void> {
    while (!this.isIdle) await this.next()
    this.throwFault()
  }

  /** Throws if a call could not be settled. */
  throwFault(): void {
    const [fault] = this.#faults
    this.#faults = []
    if (fault !== undefined) throw fault as Error
  }
}
