import { BobbinError } from '../core/error.ts'
import { unwaited } from '../core/thenable.ts'
import { requireOptions, wrongInput } from '../core/wrong-input.ts'
import type { Model, ModelCallOptions, ModelRequest } from '../model/model.ts'
import type { Finish, ModelEvent } from '../model/model-event.ts'
import type { ToolChoice } from '../model/tool-definition.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import { spokenText } from '../records/spoken-text.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { CallRequest, Decision, Executor, ExecutorHelpers } from './executor.ts'
import { unlessSilent } from './silent-model.ts'
import { definitionsOf } from './tool-definitions.ts'

/** What every request of a model executor asks for. */
export interface ModelExecutorOptions {
  /**
   * Which tools the model may or must call; it chooses by itself unless given. A model that must call goes on calling:
   * let an executor that does not force take over once it has.
   */
  readonly toolChoice?: ToolChoice
  /**
   * How long the model may tell nothing, before its first word or between two; then the call is aborted and tried again
   * like one that broke off. No limit unless given, because some models think for minutes and do not show it.
   */
  readonly maxSilenceMs?: number
}

/** The built-in executor: asks a model, passes on what streams by, and gives its decision. */
export function modelExecutor(model: Model, asks: ModelExecutorOptions = {}): Executor {
  if (typeof (model as Model | null | undefined)?.stream !== 'function') {
    const rule = "must be a model, such as `openaiResponses({ client: new OpenAI(), model: '…' })`"
    throw wrongInput('modelExecutor', 'model', rule)
  }
  checkAsks(asks)
  return async (ctx, helpers) => {
    let isStreamed = false
    for await (const event of eventsOf(model, asks, ctx, helpers)) {
      if (event.type === 'finish') {
        if (!isStreamed) tellWhole(event.items, helpers)
        return decisionOf(event)
      }
      isStreamed = true
      if (event.type === 'text') helpers.message({ id: event.key, delta: event.delta })
      else if (event.type === 'thought') helpers.thought({ id: event.key, delta: event.delta })
      else helpers.toolInput({ id: event.key, tool: event.tool, delta: event.delta })
    }
    const message = `The stream of \`${model.api}\` ended without a terminal event; none of its calls run.`
    throw new BobbinError('E_STREAM_BROKEN', message, { reason: 'no terminal event' })
  }
}

/** A wrong choice would fail each request at the provider, and a timer takes `NaN` for no time at all. */
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
  { toolChoice, maxSilenceMs }: ModelExecutorOptions,
  ctx: DispatchContext,
  helpers: ExecutorHelpers,
): AsyncIterable<ModelEvent> {
  const own = requestOf(ctx)
  const request = toolChoice === undefined ? own : { ...own, toolChoice }
  const options = optionsOf(ctx, helpers)
  return maxSilenceMs === undefined
    ? unwaited(model.stream(request, options))
    : unlessSilent(model, request, options, maxSilenceMs)
}

/** Whoever shows a turn as it goes hears the texts of a response that came in one piece, too. */
function tellWhole(items: readonly HistoryItem[], helpers: ExecutorHelpers): void {
  items.forEach((item, index) => {
    if (item.type === 'message') {
      const delta = spokenText(item.parts)
      if (delta !== '') helpers.message({ id: `whole.${index}`, delta })
    } else if (item.type === 'thought' && item.text !== '') {
      helpers.thought({ id: `whole.${index}`, delta: item.text })
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
  { signal, mintId: mint }: DispatchContext,
  { historyRepair: onRepair }: ExecutorHelpers,
): ModelCallOptions => ({ signal, mint, onRepair })

function decisionOf({ items, unfinished, usage, reason: finish }: Finish): Decision {
  // What an item of our own says is all that a request says.
  const calls: readonly CallRequest[] = items.every(isOurs) ? items : items.filter(isOurs)
  const goesOn =
    calls.length > 0 || unfinished.length > 0 || finish === 'pause' || hasOpenGate(items)
  return goesOn
    ? { items, unfinished, finish, usage, calls }
    : { items, unfinished, finish, usage, answer: textOf(items) }
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
