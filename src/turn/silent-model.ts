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
  try {
    for (;;) {
      const next = await orSilent(events.next(), maxSilenceMs, model.api)
      isOver = next.done === true
      if (next.done === true) return
      yield next.value
    }
  } finally {
    if (!isOver) {
      own.abort()
      leave(events)
    }
  }
}

/** Whoever has fallen silent may never answer, so that nobody waits; nor may a model of the application's own throw here. */
function leave(events: AsyncIterator<ModelEvent>): void {
  try {
    void unwaited(events.return?.())
  } catch {
    // Why the stream is left says more.
  }
}

function orSilent<T>(next: T | PromiseLike<T>, ms: number, api: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const silent = () => {
      const message = `\`${api}\` said nothing for ${ms} ms; none of its calls run. Raise \`maxSilenceMs\` for a model that thinks for longer.`
      reject(new BobbinError('E_STREAM_BROKEN', message, { reason: 'silence' }))
    }
    const timer = ms <= MAX_TIMER_MS ? setTimeout(silent, ms) : undefined
    Promise.resolve(next)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
