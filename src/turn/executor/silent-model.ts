import { BobbinError } from '../../core/error/error.ts'
import type { ModelEvent } from '../../model/events/model-event.ts'
import { askModel } from '../../model/fallback-model.ts'
import type { Model, ModelCallOptions, ModelRequest } from '../../model/model.ts'
import { MAX_TIMER_MS } from '../limits/cut-off.ts'

/**
 * The events of a model that must not be silent for longer than `maxSilenceMs`, before the first one or between two.
 * A silent model is aborted, and not awaited even if it ignores that; its request counts as broken and may be tried again.
 */
export async function* unlessSilent(
  model: Model,
  request: ModelRequest,
  options: ModelCallOptions,
  maxSilenceMs: number,
): AsyncGenerator<ModelEvent> {
  const own = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, own.signal]) : own.signal
  const stream = askModel(model, request, { ...options, signal })
  const events = stream[Symbol.asyncIterator]()
  let isOver = false
  const silent = () => own.abort(silence(model.api, maxSilenceMs))
  try {
    for (;;) {
      // The application's own iterator may return a plain value.
      const word = (async () => events.next())()
      const next = await orSilent(word, signal, maxSilenceMs, silent)
      isOver = next.done === true
      if (next.done === true) return
      yield next.value
    }
  } finally {
    // Not awaited: a silent model may never answer.
    if (!isOver) (async () => events.return?.())().catch(() => {})
  }
}

/** Waits for the next event until the signal aborts; `silent` aborts it after `ms`. */
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
