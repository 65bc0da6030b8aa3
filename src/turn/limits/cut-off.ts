import { isBobbinError } from '../../core/error/error.ts'
import { tooMuchTime } from './limits.ts'
import { failed, stopped, type UnfinishedEnd } from './outcome.ts'

/** The longest delay that a timer accepts; more than three weeks. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Passes the abort of a turn on to all its work through a single listener: the application's signal may live as long as
 * the process, and must not collect listeners.
 */
export class AbortWatch {
  readonly #signal: AbortSignal
  readonly #watched = new Set<() => void>()
  readonly #listener = () => {
    for (const end of [...this.#watched]) end()
  }

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#listener, { once: true })
  }

  /** Calls `end` when the signal aborts; returns a function that cancels this. */
  onAbort(end: () => void): () => void {
    this.#watched.add(end)
    return () => void this.#watched.delete(end)
  }

  /**
   * Waits for `work`, or rejects with the signal's reason as soon as it aborts. Later results of the work are
   * ignored.
   */
  orAborted<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = () => reject(this.#signal.reason as Error)
      const off = this.onAbort(end)
      if (this.#signal.aborted) end()
      work.then(
        (value) => {
          off()
          resolve(value)
        },
        (error: Error) => {
          off()
          reject(error)
        },
      )
    })
  }

  /** Removes the listener: the signal may outlive the turn. */
  clear(): void {
    this.#signal.removeEventListener('abort', this.#listener)
  }
}

/** The time limit of one call. Its signal aborts when the time is over or the turn is aborted. */
export interface CallLimit {
  readonly signal: AbortSignal
  /** Whether the signal has aborted. */
  readonly isOver: boolean
  /** Resolves with the reason when the signal aborts. */
  readonly over: Promise<DOMException>
  /** The call has ended: stops the timer. */
  clear(): void
}

/** Starts the time of a call. `onAbort` registers for the turn's abort and returns a function that cancels this. */
function callLimit(ms: number, onAbort: (abort: () => void) => () => void): CallLimit {
  const own = new AbortController()
  let isOver = false
  let resolve: (reason: DOMException) => void = () => {}
  const over = new Promise<DOMException>((give) => {
    resolve = give
  })
  const end = (text: string, name: 'AbortError' | 'TimeoutError') => {
    if (isOver) return
    isOver = true
    clear()
    const reason = new DOMException(text, name)
    // Resolve first: a listener of the signal that throws must not block the turn.
    resolve(reason)
    own.abort(reason)
  }
  const late = () => end(`The call did not end within ${ms} ms and was given up.`, 'TimeoutError')
  const timer = ms <= MAX_TIMER_MS ? setTimeout(late, ms) : undefined
  const off = onAbort(() => end('The turn was aborted while the call ran.', 'AbortError'))
  const clear = () => {
    clearTimeout(timer)
    off()
  }
  return {
    over,
    clear,
    get isOver() {
      return isOver
    },
    // Node makes the signal when it is read, which takes longer than most of the call. Few handlers read it.
    get signal() {
      return own.signal
    },
  }
}

/** Everything that can end a turn from outside, joined in one signal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Ends the current work when the signal aborts. */
  readonly watch: AbortWatch
  /** Aborts the turn if the error says that another runner has taken its conversation, or that it was deleted. */
  abortIfLost(error: unknown): void
  /** Aborts the turn because `stop` was called. */
  readonly stop: () => void
  /** Starts the time limit of one call. */
  limit(ms: number): CallLimit
  /** Counts time that the turns before this one have used. */
  spend(usedMs: number): void
  /** The end of the aborted turn, by its cause. */
  end(): UnfinishedEnd
  /** Stops the timers. */
  clear(): void
}

/** Joins the caller's signal, the turn's time limit and the loss of the conversation. */
export function interruptionOf(
  conversation: string,
  given: AbortSignal | undefined,
  timeMs: number,
  own = new AbortController(),
): Interruption {
  let tooLong: DOMException | undefined
  let lost: unknown
  const stop = () => {
    tooLong = new DOMException(`The turn took longer than ${timeMs} ms.`, 'TimeoutError')
    own.abort(tooLong)
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const spend = (usedMs: number) => {
    clearTimeout(timer)
    const left = Math.max(1, timeMs - usedMs)
    timer = left <= MAX_TIMER_MS ? setTimeout(stop, left) : undefined
    // A turn that hangs must not keep the process alive by itself.
    if (typeof timer === 'object') timer.unref()
  }
  spend(0)
  const signal = given === undefined ? own.signal : AbortSignal.any([given, own.signal])
  const watch = new AbortWatch(signal)
  return {
    signal,
    watch,
    spend(usedMs) {
      if (usedMs > 0) spend(usedMs)
    },
    stop: () => own.abort(new DOMException('The turn was stopped.', 'AbortError')),
    limit: (ms) => callLimit(ms, (abort) => watch.onAbort(abort)),
    abortIfLost(error) {
      if (lossOf(conversation, error) === undefined || signal.aborted) return
      lost = error
      own.abort(error)
    },
    end() {
      if (tooLong !== undefined && signal.reason === tooLong) return stopped(tooMuchTime(timeMs))
      if (lost !== undefined && signal.reason === lost) {
        const message = `The conversation ${lossOf(conversation, lost)}; this turn ended itself.`
        return failed({ code: 'STORE_FAILED', message })
      }
      const message = 'The turn was aborted by its signal.'
      return { status: 'aborted', text: '', reason: { code: 'ABORTED', message } }
    },
    clear() {
      clearTimeout(timer)
      watch.clear()
    },
  }
}

/** How the conversation was lost; undefined when the error is about something else, such as a conversation inside it. */
function lossOf(conversation: string, error: unknown): string | undefined {
  if (isBobbinError(error, 'E_STALE_RUNNER')) {
    // The application's own store may not name the conversation.
    const isOther = (error.data.conversation ?? conversation) !== conversation
    return isOther ? undefined : 'has passed to another runner'
  }
  const isDeleted = isBobbinError(error, 'E_NOT_FOUND') && error.data.what === 'conversation'
  return isDeleted && error.data.id === conversation ? 'was deleted' : undefined
}
