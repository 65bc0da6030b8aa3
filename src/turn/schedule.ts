/** One piece of work; an exclusive one runs while nothing else does. */
export interface Job {
  readonly exclusive: boolean
  /** Gives nothing to wait for where it is over at once. */
  run(): Promise<void> | undefined
}

/** Hears at once of what escapes a job, while others still run or wait. */
type OnFault = (error: unknown) => void

/**
 * Runs jobs in the order given, at most `concurrency` at once; an exclusive job waits for those before
 * it and holds up those behind it. A job settles its own failures; what still escapes one is thrown
 * after all have ended, so that none is left running unseen.
 */
export function runJobs(
  jobs: readonly Job[],
  concurrency: number,
  onFault?: OnFault,
): Promise<void> | undefined {
  const schedule = new Schedule(jobs, concurrency, onFault)
  return schedule.start() ? undefined : schedule.ended()
}

class Schedule {
  readonly #jobs: readonly Job[]
  readonly #concurrency: number
  readonly #onFault: OnFault | undefined
  readonly #faults: unknown[] = []
  #next = 0
  #running = 0
  #isAlone = false
  #onEnd: (() => void) | undefined

  constructor(jobs: readonly Job[], concurrency: number, onFault: OnFault | undefined) {
    this.#jobs = jobs
    this.#concurrency = concurrency
    this.#onFault = onFault
  }

  /** Starts as many as may run; says whether all have ended, well. */
  start(): boolean {
    for (let job = this.#jobs[this.#next]; job !== undefined; job = this.#jobs[this.#next]) {
      const isFull = this.#isAlone || job.exclusive || this.#running >= this.#concurrency
      if (this.#running > 0 && isFull) return false
      this.#next++
      const work = this.#begin(job)
      if (work === undefined) continue
      this.#running++
      this.#isAlone = job.exclusive
      work.then(
        () => this.#end(),
        (error: unknown) => this.#fail(error),
      )
    }
    return this.#running === 0 && this.#faults.length === 0
  }

  /** Waits until all have ended. */
  ended(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onEnd = () => (this.#faults.length > 0 ? reject(this.#faults[0]) : resolve())
      if (this.#running === 0) this.#onEnd()
    })
  }

  #begin(job: Job): Promise<void> | undefined {
    try {
      return job.run()
    } catch (error) {
      this.#note(error)
      return undefined
    }
  }

  #end(): void {
    this.#running--
    this.start()
    if (this.#running === 0) this.#onEnd?.()
  }

  #fail(error: unknown): void {
    this.#note(error)
    this.#end()
  }

  #note(error: unknown): void {
    this.#faults.push(error)
    this.#onFault?.(error)
  }
}
