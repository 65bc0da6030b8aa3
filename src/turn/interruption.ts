import { AbortWatch } from './abort-watch.ts'
import { tooMuchTime } from './limits.ts'
import { type DispatchEnd, failed, stopped } from './outcome.ts'
import { MAX_TIMER_MS } from './timer-limit.ts'

/** Everything that can cut a turn off from outside, behind one signal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Ends what is under way when the signal aborts. */
  readonly watch: AbortWatch
  /** Cuts the turn off because the conversation was lost to another runner. */
  lose(error: unknown): void
  /** The end of a turn that was cut off: each cause has its own. */
  end(): DispatchEnd
  /** Frees the timers. */
  clear(): void
}

/** Joins the caller's signal, the turn's time limit and the loss of the conversation. */
export function interruptionOf(given: AbortSignal | undefined, maxTimeMs: number): Interruption {
  const own = new AbortController()
  let tooLong: DOMException | undefined
  let lost: unknown
  const stop = () => {
    tooLong = new DOMException(`The turn took longer than ${maxTimeMs} ms.`, 'TimeoutError')
    own.abort(tooLong)
  }
  const timer = maxTimeMs <= MAX_TIMER_MS ? setTimeout(stop, maxTimeMs) : undefined
  // A turn that hangs must not keep the process alive by itself.
  if (typeof timer === 'object') timer.unref()
  const signal = given === undefined ? own.signal : AbortSignal.any([given, own.signal])
  const watch = new AbortWatch(signal)
  return {
    signal,
    watch,
    lose(error) {
      lost = error
      own.abort(error)
    },
    end() {
      if (tooLong !== undefined && signal.reason === tooLong) return stopped(tooMuchTime(maxTimeMs))
      if (lost !== undefined && signal.reason === lost) {
        const message = 'The conversation has passed to another runner; this turn ended itself.'
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
