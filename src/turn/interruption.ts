import type { DispatchEnd } from './outcome.ts'

/** The longest time that timers take; more than three weeks. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Everything that can cut a turn off from outside, behind one signal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Cuts the turn off because the conversation was lost to another runner. */
  lose(error: unknown): void
  /** The end of a turn that was cut off: each cause has its own. */
  end(): DispatchEnd
  /** Frees the timer. */
  clear(): void
}

/** Joins the caller's signal, the turn's time limit and the loss of the conversation. */
export function interruption(given: AbortSignal | undefined, maxTimeMs: number): Interruption {
  const own = new AbortController()
  const tooLong = new DOMException(`The turn took longer than ${maxTimeMs} ms.`, 'TimeoutError')
  let lost: unknown
  const timer =
    maxTimeMs <= MAX_TIMER_MS ? setTimeout(() => own.abort(tooLong), maxTimeMs) : undefined
  // A turn that hangs must not keep the process alive by itself.
  if (typeof timer === 'object') timer.unref()
  const signal = given === undefined ? own.signal : AbortSignal.any([given, own.signal])
  return {
    signal,
    lose(error) {
      lost = error
      own.abort(error)
    },
    end() {
      if (signal.reason === tooLong) {
        const message = `The turn was stopped because it took longer than ${maxTimeMs} ms. Raise \`maxTimeMs\`, or ask for less at once.`
        return { status: 'stopped', text: '', reason: { code: 'MAX_TIME', message } }
      }
      if (lost !== undefined && signal.reason === lost) {
        const message = 'The conversation has passed to another runner; this turn ended itself.'
        return { status: 'failed', text: '', reason: { code: 'STORE_FAILED', message } }
      }
      const message = 'The turn was aborted by its signal.'
      return { status: 'aborted', text: '', reason: { code: 'ABORTED', message } }
    },
    clear: () => clearTimeout(timer),
  }
}

/**
 * Waits for `work` no longer than the signal allows and rejects with its reason then. Whatever the work
 * still does is nobody's concern any more.
 */
export async function orAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
