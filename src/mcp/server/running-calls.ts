import { delay } from '../../core/delay.ts'

/** How long calls may take to end when their server is closed. */
const CLOSE_MS = 10_000

/** The calls that run, so that a server that is closed can end them first. */
export class RunningCalls {
  readonly #running = new Map<AbortController, Promise<unknown>>()
  #isClosed = false

  /** Runs a call. Its signal is that of the client and that of the server in one. */
  async run<T>(given: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const own = new AbortController()
    if (this.#isClosed) own.abort(closed())
    const work = call(AbortSignal.any([given, own.signal]))
    this.#running.set(own, work)
    try {
      return await work
    } finally {
      this.#running.delete(own)
    }
  }

  /** Aborts all calls, and waits until they have written their ends; some seconds at most. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const own of this.#running.keys()) own.abort(closed())
    const ended = new AbortController()
    const all = Promise.allSettled(this.#running.values()).then(() => ended.abort())
    await Promise.race([all, delay(CLOSE_MS, ended.signal)])
  }
}

const closed = () => new DOMException('The server was closed.', 'AbortError')
