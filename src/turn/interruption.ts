import { isBobbinError } from '../core/error.ts'
import { AbortWatch } from './abort-watch.ts'
import { tooMuchTime } from './limits.ts'
import { type DispatchEnd, failed, stopped } from './outcome.ts'
import { MAX_TIMER_MS } from './timer-limit.ts'

/** Everything that can cut a turn off from outside, behind one signal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Ends what is under way when the signal aborts. */
  readonly watch: AbortWatch
  /** Cuts the turn off where the error says that its conversation is another runner's by now, or deleted. */
  lose(error: unknown): void
  /** The end of a turn that was cut off: each cause has its own. */
  end(): DispatchEnd
  /** Frees the timers. */
  clear(): void
}

/** Joins the caller's signal, the turn's time limit and the loss of the conversation. */
export function interruptionOf(
  conversation: string,
  given: AbortSignal | undefined,
  maxTimeMs: number,
): Interruption {
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
      if (lossOf(conversation, error) === undefined || signal.aborted) return
      lost = error
      own.abort(error)
    },
    end() {
      if (tooLong !== undefined && signal.reason === tooLong) return stopped(tooMuchTime(maxTimeMs))
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

/** What became of the conversation; nothing when the error does not say that it, and not one inside it, is lost. */
function lossOf(conversation: string, error: unknown): string | undefined {
  if (isBobbinError(error, 'E_STALE_RUNNER')) {
    // One of a store of the application's own may not say which it is about.
    const isOther = (error.data.conversation ?? conversation) !== conversation
    return isOther ? undefined : 'has passed to another runner'
  }
  const isDeleted = isBobbinError(error, 'E_NOT_FOUND') && error.data.what === 'conversation'
  return isDeleted && error.data.id === conversation ? 'was deleted' : undefined
}
