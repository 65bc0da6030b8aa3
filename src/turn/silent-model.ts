import { BobbinError } from '../core/error.ts'
import { unwaited } from '../core/thenable.ts'
import type { Model, ModelCallOptions, ModelRequest } from '../model/model.ts'
import type { ModelEvent } from '../model/model-event.ts'
import { MAX_TIMER_MS } from './timer-limit.ts'

/**
 * The events of a model that may not be silent for longer than `maxSilenceMs`, before the first one or between two. One
 * that is gets aborted, and left behind where it ignores that; the call counts as broken off and may be tried again.
 */
export async function* unlessSilent(
  model: Model,
  request: ModelRequest,
  options: ModelCallOptions,
  maxSilenceMs: number,
): AsyncGenerator<ModelEvent> {
  const own = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, own.signal]) : own.signal
  const stream = unwaited(model.stream(request, { ...options, signal }))
  const events = stream[Symbol.asyncIterator]()
  let isOver = false
  const silent = () => own.abort(silence(model.api, maxSilenceMs))
  try {
    for (;;) {
      // An application's own iterator may give what it has at once.
      const word = (async () => events.next())()
      const next = await orSilent(word, signal, maxSilenceMs, silent)
      isOver = next.done === true
      if (next.done === true) return
      yield next.value
    }
  } finally {
    // Whoever has fallen silent may never answer, so that nobody waits for this.
    if (!isOver) (async () => events.return?.())().catch(() => {})
  }
}

/** Waits for the next word until the signal aborts, which `silent` does when it takes too long. */
function orSilent<T>(
  next: Promise<T>,
  signal: AbortSignal,
  ms: number,
  silent: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = ms <= MAX_TIMER_MS ? setTimeout(silent, ms) : undefined
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    next.then(resolve, reject).finally(end)
  })
}

function silence(api: string, ms: number): BobbinError {
  const message = `\`${api}\` said nothing for ${ms} ms; none of its calls run. Raise \`maxSilenceMs\` for a model that thinks for longer.`
  return new BobbinError('E_STREAM_BROKEN', message, { reason: 'silence' })
}
