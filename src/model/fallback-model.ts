import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { unwaited } from '../core/thenable.ts'
import type { ModelEvent } from './events/model-event.ts'
import type { Model, ModelCallOptions, ModelRequest } from './model.ts'
import { isTransient } from './transient-failure.ts'

/** When `fallbackModel` asks the next model. */
export interface FallbackOptions {
  /**
   * Whether an error is a reason to ask the next model. Unless given, it is one if the provider is unreachable,
   * overloaded or rate-limited, or if the stream broke off.
   */
  readonly on?: (error: unknown) => boolean
}

/**
 * A model that asks the first of several, and the next one if that fails. Every request begins with the first. The models
 * may belong to different providers. Text that a failed model had streamed keeps its own ids, and none of its calls runs.
 */
export function fallbackModel(models: readonly Model[], options: FallbackOptions = {}): Model {
  const [first, ...others] = checked(models)
  requireOptions('fallbackModel', options, ['on'])
  const { on = isTransient } = options
  if (typeof on !== 'function') {
    throw wrongInput('fallbackModel', 'on', 'must be a function `(error) => boolean`')
  }
  const { api, provider, model } = first
  const both: Model = {
    api,
    provider,
    model,
    stream: (request, call = {}) => inTurn([first, ...others], request, call, on),
  }
  inside.set(both, [first, ...others])
  return both
}

const inside = new WeakMap<Model, readonly Model[]>()

/** The models that may answer for a model: itself, or those that `fallbackModel` was given. */
export function modelsIn(model: Model): readonly Model[] {
  return inside.get(model)?.flatMap(modelsIn) ?? [model]
}

/** Asks a model, inside of what observes its requests. Of several models, each is asked inside of its own. */
export function askModel(
  model: Model,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncIterable<ModelEvent> {
  const ask = () => unwaited(model.stream(request, options))
  if (options.around === undefined || inside.has(model)) return ask()
  return options.around(model, request, ask)
}

function checked(models: readonly Model[]): readonly [Model, ...Model[]] {
  const list: readonly (Model | null)[] = Array.isArray(models) ? models : []
  if (list.length === 0 || !list.every((one) => typeof one?.stream === 'function')) {
    throw wrongInput('fallbackModel', 'models', 'must be a list of at least one model')
  }
  return [...list] as [Model, ...Model[]]
}

async function* inTurn(
  models: readonly Model[],
  request: ModelRequest,
  options: ModelCallOptions,
  on: (error: unknown) => boolean,
): AsyncGenerator<ModelEvent> {
  for (const [place, model] of models.entries()) {
    const next = models[place + 1]
    try {
      for await (const event of askModel(model, request, options)) {
        yield place === 0 || event.type === 'finish'
          ? event
          : { ...event, key: `${place}/${event.key}` }
        if (event.type === 'finish') return
      }
      // The executor reports a stream without an end.
      return
    } catch (error) {
      if (next === undefined || options.signal?.aborted || !on(error)) throw error
      options.onFallback?.({ from: nameOf(model), to: nameOf(next), error })
    }
  }
}

const nameOf = ({ api, provider, model }: Model) => ({ api, provider, model })
