import { BobbinError } from '../../core/error/error.ts'
import { requireOptions, wrongInput } from '../../core/error/wrong-input.ts'
import type { Finish, ModelEvent } from '../../model/events/model-event.ts'
import { askModel, modelsIn } from '../../model/fallback-model.ts'
import type {
  Model,
  ModelCallOptions,
  ModelFallback,
  ModelRequest,
  SentRequest,
} from '../../model/model.ts'
import type { ToolChoice } from '../../model/tool-definition.ts'
import type { CallItem, HistoryItem } from '../../records/history-item.ts'
import { spokenText } from '../../records/spoken-text.ts'
import type { DispatchContext } from '../request/dispatch-context.ts'
import { definitionsOf } from '../request/tool-definitions.ts'
import type { CallRequest, Executor, ExecutorDecision, ExecutorHelpers } from './executor.ts'
import { InputStreams } from './input-streams.ts'
import { unlessSilent } from './silent-model.ts'

/** Options that apply to every request of a model executor. */
export interface ModelExecutorOptions {
  /**
   * Which tools the model may or must call; the model chooses unless given. A model that must call never
   * answers: after its call, switch to an executor without this option.
   */
  readonly toolChoice?: ToolChoice
  /**
   * How long the model may send nothing, before its first event or between two. Then the request is aborted and tried
   * again. No limit unless given, because some models think for minutes and send nothing meanwhile.
   */
  readonly maxSilenceMs?: number
}

/** The built-in executor: asks a model, passes its stream on, and gives its decision. */
export function modelExecutor(model: Model, asks: ModelExecutorOptions = {}): Executor {
  if (typeof (model as Model | null | undefined)?.stream !== 'function') {
    const rule = "must be a model, such as `openaiResponses({ client: new OpenAI(), model: '…' })`"
    throw wrongInput('modelExecutor', 'model', rule)
  }
  checkAsks(asks)
  const executor: Executor = async (ctx, helpers) => {
    let isStreamed = false
    const own = requestOf(ctx)
    const request = asks.toolChoice === undefined ? own : { ...own, toolChoice: asks.toolChoice }
    let trip = helpers.roundTrip?.(nameOf(model))
    const onRequest = (sent: SentRequest) => trip?.sent(sent, request)
    let inputs = new InputStreams()
    const onFallback = (change: ModelFallback) => {
      trip?.failed(change.error)
      trip = helpers.roundTrip?.(change.to, change)
      // Nothing that the failed model streamed belongs to the response of the next one.
      inputs = new InputStreams()
      isStreamed = false
      helpers.modelFallback?.(change)
    }
    const around: NonNullable<ModelCallOptions['around']> = (...given) =>
      trip?.within?.(...given) ?? given[2]()
    const onKept = (token: string) => trip?.kept?.(token)
    const kept = helpers.kept?.(nameOf(model))
    const options = {
      ...optionsOf(ctx, helpers),
      onRequest,
      onFallback,
      onKept,
      around,
      ...(kept && { kept }),
    }
    const prefix = helpers.modelCall?.() ?? ''
    try {
      for await (const event of eventsOf(model, asks, request, options)) {
        if (!isStreamed) trip?.answered()
        if (event.type === 'finish') {
          if (!isStreamed) tellWhole(event.items, helpers, prefix)
          trip?.ended(event)
          return decisionOf(event, inputs)
        }
        isStreamed = true
        const { key, delta } = event
        const id = `${prefix}${key}`
        if (event.type === 'text') helpers.message({ id, delta })
        else if (event.type === 'thought') helpers.thought({ id, delta })
        else {
          helpers.toolInput({ id, tool: event.tool, delta })
          inputs.add(id, event.tool, delta)
        }
      }
      const message = `The stream of \`${model.api}\` ended without a terminal event; none of its calls run.`
      throw new BobbinError('E_STREAM_BROKEN', message, { reason: 'no terminal event' })
    } catch (error) {
      trip?.failed(error)
      throw error
    }
  }
  models.set(executor, modelsIn(model))
  return executor
}

const models = new WeakMap<Executor, readonly Model[]>()

/** The models that an executor may ask, if `modelExecutor` made it. */
export const modelsOf = (executor: Executor): readonly Model[] => models.get(executor) ?? []

const nameOf = ({ api, provider, model }: Model) => ({ api, provider, model })

/** Checks early: a wrong choice fails every request at the provider, and a timer treats `NaN` as 0. */
function checkAsks(asks: ModelExecutorOptions): void {
  requireOptions('modelExecutor', asks, ['toolChoice', 'maxSilenceMs'])
  const { toolChoice, maxSilenceMs } = asks
  if (toolChoice !== undefined && !isToolChoice(toolChoice)) {
    const rule = "must be 'auto', 'none', 'required' or `{ tool: name }`"
    throw wrongInput('modelExecutor', 'toolChoice', rule)
  }
  if (maxSilenceMs !== undefined && !(typeof maxSilenceMs === 'number' && maxSilenceMs >= 1)) {
    const rule = 'must be a number of milliseconds, at least 1, or be left out for no limit'
    throw wrongInput('modelExecutor', 'maxSilenceMs', rule)
  }
}

function isToolChoice(choice: unknown): choice is ToolChoice {
  if (typeof choice === 'string') return ['auto', 'none', 'required'].includes(choice)
  return typeof (choice as { readonly tool?: unknown } | null)?.tool === 'string'
}

function eventsOf(
  model: Model,
  { maxSilenceMs }: ModelExecutorOptions,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncIterable<ModelEvent> {
  return maxSilenceMs === undefined
    ? askModel(model, request, options)
    : unlessSilent(model, request, options, maxSilenceMs)
}

/** Emits the texts of a response that came without a stream, so that listeners get them too. */
function tellWhole(items: readonly HistoryItem[], helpers: ExecutorHelpers, prefix: string): void {
  items.forEach((item, index) => {
    const id = `${prefix}whole.${index}`
    if (item.type === 'message') {
      const delta = spokenText(item.parts)
      if (delta !== '') helpers.message({ id, delta })
    } else if (item.type === 'thought' && item.text !== '') {
      helpers.thought({ id, delta: item.text })
    }
  })
}

function requestOf(ctx: DispatchContext): ModelRequest {
  const { instructions, items, output } = ctx
  const tools = definitionsOf(ctx.tools)
  return output === undefined
    ? { instructions, items, tools }
    : { instructions, items, tools, output }
}

const optionsOf = (
  { signal, mintId: mint, cacheKey }: DispatchContext,
  { historyRepair: onRepair }: ExecutorHelpers,
): ModelCallOptions => ({ signal, mint, cacheKey, onRepair })

function decisionOf(
  { items: received, unfinished: cut, usage, reason: finish, grounded }: Finish,
  inputs: InputStreams,
): ExecutorDecision {
  const items = inputs.named(received)
  const unfinished = cut.map((call) => ({ ...call, ...inputs.inputOf({ ...call, args: {} }) }))
  // A call item has every field of a request.
  const calls: readonly CallRequest[] = items.every(isOurs) ? items : items.filter(isOurs)
  const goesOn =
    calls.length > 0 || unfinished.length > 0 || finish === 'pause' || hasOpenGate(items)
  const told = { unfinished, finish, usage, ...(grounded && { grounded }) }
  return goesOn ? { items, calls, ...told } : { items, answer: textOf(items), ...told }
}

function isOurs(item: HistoryItem): item is CallItem {
  return item.type === 'call' && item.executedBy === 'runner' && item.result === undefined
}

const hasOpenGate = (items: readonly HistoryItem[]) =>
  items.some(
    (item) =>
      item.type === 'openCall' && item.gate?.decision === undefined && item.gate !== undefined,
  )

function textOf(items: readonly HistoryItem[]): string {
  let text = ''
  for (const item of items) if (item.type === 'message') text += spokenText(item.parts)
  return text
}
