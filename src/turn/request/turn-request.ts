import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { CHANGED, changeBetween, toldIn, toolText } from '../../model/appended-changes.ts'
import type { BudgetReport } from '../../prompt/budget-report.ts'
import { textCounter } from '../../prompt/count-item.ts'
import { type FittedRequest, HistoryBudget } from '../../prompt/history-budget.ts'
import {
  type ContextPiece,
  contextItem,
  contextRenderer,
  instructionsText,
} from '../../prompt/render-context.ts'
import type {
  HistoryItem,
  MessageItem,
  PromptChange,
  ToldPrompt,
} from '../../records/history-item.ts'
import type { Memory } from '../../records/memory.ts'
import type { Retrievable } from '../../records/retrievable.ts'
import { spokenText } from '../../records/spoken-text.ts'
import type { ModelCall } from '../../store/entry.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'
import { overBudget } from '../limits/limits.ts'
import type { StopReason } from '../limits/outcome.ts'
import type { Fact } from '../log/fact.ts'
import type { LogState } from '../log/log-state.ts'
import type { History } from './history.ts'
import type { OfferedPrompt } from './last-told.ts'
import type { Presentation } from './presentation.ts'
import type { PrefixSource } from './prompt-prefix.ts'
import { definitionsOf } from './tool-definitions.ts'
import type { VisibleCalls } from './visible-calls.ts'

interface RequestParts {
  readonly instructions: string | undefined
  readonly budget: { readonly maxTokens: number; readonly encoding?: string } | undefined
  readonly state: LogState
  readonly history: History
  readonly visible: VisibleCalls
  readonly presentation: Presentation
  /** How many entries the log has. */
  readonly length: () => number
  /** True when requests are counted although no budget holds them. */
  readonly counts?: boolean
  /** What the last request in the log said before its history, for a model that takes changes at the end. */
  readonly toldBefore?: (now: OfferedPrompt) => Promise<ToldPrompt | undefined>
  /** The stored part of a change; a change with secrets is not announced. */
  readonly scrub?: (change: JsonValue) => JsonValue
}

/** What the log has to know of a request besides its parts. */
export interface PreparedRequest extends Pick<ModelCall, 'upTo' | 'budget' | 'shed'> {
  /** Context that the request shows and the log does not have yet. */
  readonly context: readonly { readonly id: string; readonly item: HistoryItem }[]
}

/** A request that is not made to fit yet. */
export interface MeasuredRequest {
  readonly tokens: number
  /** Gives the items that it shows, by those of the history. */
  readonly shown: HistoryBudget['shown']
}

/**
 * The request that the executor sends: as much of the history as the budget allows. It only grows: memories and
 * retrievables of middleware become part of the history, before the message of the turn.
 */
export class TurnRequest {
  readonly history: History
  readonly memories: Memory[] = []
  readonly retrievables: Retrievable[] = []
  items: readonly HistoryItem[]
  instructions: string
  /** The tools of this iteration. */
  tools: ToolRegistry
  readonly #parts: RequestParts
  readonly #renderContext: ReturnType<typeof contextRenderer>
  #budget: HistoryBudget | undefined
  readonly #places = new Map<HistoryItem, number>()
  #counted = 0
  /** The texts of context that was dropped. */
  readonly #dropped = new Set<string>()
  readonly #facts: Fact[] = []
  /** The places that were shed since the last entry about a request. */
  readonly #shed = { handles: [] as string[], dropped: [] as number[] }
  #upTo = 0
  #report: BudgetReport | undefined

  constructor(parts: RequestParts) {
    const { history, presentation } = parts
    this.#parts = parts
    this.history = history
    this.#renderContext = contextRenderer(presentation.key)
    this.items = history.items
    this.instructions = instructionsText(parts.instructions)
    this.#showShed()
    this.tools = parts.visible.tools
    this.#budget = this.#newBudget()
  }

  /** Changes what the next request offers: another agent is active. */
  offer(
    instructions: string | undefined,
    tools: ToolRegistry,
    artifacts?: readonly unknown[],
  ): void {
    this.instructions = instructionsText(instructions)
    this.#parts.visible.offer(tools, artifacts)
    this.tools = this.#parts.visible.tools
  }

  #newBudget(): HistoryBudget | undefined {
    const { history, budget, counts, presentation } = this.#parts
    // What earlier requests have shed stays out, also without a budget.
    const isWhole =
      history.handles.size === 0 && !history.items.some((_, at) => history.isDropped(at))
    if (budget === undefined && isWhole && !counts) return undefined
    return new HistoryBudget({
      limit: budget?.maxTokens ?? Number.POSITIVE_INFINITY,
      count: textCounter(budget?.encoding),
      handleOf: (call) => presentation.handle(call),
    })
  }

  #showShed(): void {
    const { visible, history } = this.#parts
    for (const id of history.handles) visible.showHandle(id)
    visible.hide(history.items.flatMap((item, at) => (history.isDropped(at) ? callIds(item) : [])))
  }

  /** Counts again from the first item on: a summary took the place of some. */
  restart(): void {
    this.#places.clear()
    this.#counted = 0
    this.#budget = this.#newBudget()
    this.items = this.history.items
  }

  /** The next request as it is before anything is shed for it; undefined unless requests are counted. */
  async measure(output: JsonObject | undefined): Promise<MeasuredRequest | undefined> {
    const { history, memories, retrievables } = this
    if (this.#budget === undefined) return undefined
    await history.render()
    await this.#count(this.#budget)
    const { pieces } = this.#renderContext({ memories, retrievables })
    const tokens = await this.#budget.measure(this.#with(this.#unseen(pieces), output))
    return { tokens, shown: this.#budget.shown.bind(this.#budget) }
  }

  /** What goes with the history. */
  #with(context: readonly ContextPiece[], output: JsonObject | undefined) {
    const { instructions } = this
    const tools = definitionsOf(this.#parts.visible.tools)
    return { instructions, tools, context, ...(output && { output }) }
  }

  /** Updates the request before an iteration; gives a reason to stop if it does not fit the budget. */
  async prepare(
    output: JsonObject | undefined,
    onReport: (report: BudgetReport) => void,
  ): Promise<StopReason | undefined> {
    const { memories, retrievables } = this
    const { history, state, visible } = this.#parts
    await history.render()
    this.#upTo = this.#parts.length()
    if (this.#budget) await this.#count(this.#budget)
    const { pieces, trust } = this.#renderContext({ memories, retrievables })
    state.seeUnrecorded(trust)
    let added = pieces.length === 0 ? pieces : this.#unseen(pieces)
    let short: StopReason | undefined
    // Handles need tools, and tools take room too, until the last handle is gone. Dropped content never comes back,
    // so this loop ends.
    do {
      this.tools = visible.tools
      if (this.#budget) {
        const fitted = await this.#fit(this.#budget, added, output)
        added = fitted.context
        this.#report = fitted.report
        if (this.#parts.budget) onReport(fitted.report)
        short = fitted.report.fits ? undefined : overBudget(fitted.report.limit)
      }
    } while (this.tools !== visible.tools)
    if (added.length > 0) await this.#add(added)
    if (this.#parts.toldBefore) await this.#tellChanges(this.#parts.toldBefore)
    return short
  }

  /** How many tokens the request has; 0 unless requests are counted. */
  get tokens(): number {
    return this.#report?.total.tokens ?? 0
  }

  /** What the request comes from, to explain why it does not begin with the one before. */
  get source(): PrefixSource {
    const { handles, dropped } = this.#shed
    const isShed = handles.length + dropped.length > 0
    const tools = definitionsOf(this.#parts.visible.own)
    return { tools, instructions: this.instructions, isShed }
  }

  /** The entry about this request. It names shed places once. */
  takePrepared(): PreparedRequest {
    const [handles, dropped] = [this.#shed.handles.splice(0), this.#shed.dropped.splice(0)]
    const context = this.#facts.flatMap((fact) =>
      fact.kind === 'item' ? [{ id: fact.id, item: fact.item }] : [],
    )
    return {
      upTo: this.#upTo,
      context,
      ...(this.#parts.budget && this.#report && { budget: reportData(this.#report) }),
      ...(handles.length + dropped.length > 0 && { shed: { handles, dropped } }),
    }
  }

  /** The context that this request added; it is committed with its response. */
  takeFacts(): readonly Fact[] {
    return this.#facts.splice(0)
  }

  /** The context that no request has shown, and that was not dropped in this turn. */
  #unseen(pieces: readonly ContextPiece[]): readonly ContextPiece[] {
    const seen = new Set(this.#dropped)
    for (const item of this.items) {
      if (isContext(item)) seen.add(spokenText(item.parts))
    }
    return pieces.filter(({ text }) => !seen.has(text))
  }

  /** Instructions and tools of the request before, if there was one. */
  #told: ToldPrompt | undefined
  #isTold = false

  /**
   * Puts a change of instructions and tools behind everything else, where a model reads it without a change of what stands
   * before. After a break there is nothing to keep, and what the runner wants now goes to the beginning again.
   */
  async #tellChanges(toldBefore: NonNullable<RequestParts['toldBefore']>): Promise<void> {
    const offered = { instructions: this.instructions, tools: definitionsOf(this.tools) }
    const now = { ...offered, tools: offered.tools.map(toolText) }
    const live = toldIn(this.items)
    const before = live ?? (this.#isTold ? this.#told : await toldBefore(offered))
    this.#isTold = true
    this.#told = now
    const change = before && changeBetween(before, now)
    const isBroken = this.source.isShed || !mayFollow(this.items.at(-1))
    if (isBroken ? live === undefined : change === undefined) return
    const from = isBroken ? now : before
    const said = { ...(isBroken ? {} : change), ...(from && from !== live && { from }) }
    const item = changeItem(said)
    const plain = JSON.parse(JSON.stringify(item)) as JsonValue
    if (JSON.stringify(this.#parts.scrub?.(plain)) !== JSON.stringify(plain)) return
    const fact: Fact = { kind: 'item', id: `change-${this.#upTo}`, item }
    this.history.stage(fact)
    this.#facts.push(fact)
    await this.history.render()
    if (this.#budget) await this.#count(this.#budget)
  }

  /** Puts context before the message of the turn, or behind what the model has read since. */
  async #add(pieces: readonly ContextPiece[]): Promise<void> {
    const { history } = this
    const items = pieces.map(contextItem)
    const isBefore = history.endsInMessage
    for (const [at, item] of items.entries()) {
      const fact: Fact & { kind: 'item' } = {
        kind: 'item',
        id: (pieces[at] as ContextPiece).id,
        item,
      }
      history.stage(fact)
      this.#facts.push(fact)
    }
    await history.render()
    if (this.#budget && isBefore) {
      await this.#budget.prepend(items)
      this.#counted += items.length
      for (const [at, item] of history.items.entries()) this.#places.set(item, history.base + at)
    } else if (this.#budget) await this.#count(this.#budget)
  }

  async #fit(
    budget: HistoryBudget,
    context: readonly ContextPiece[],
    output: JsonObject | undefined,
  ): Promise<FittedRequest> {
    const { visible } = this.#parts
    const fitted = await budget.fit(this.#with(context, output))
    const { report } = fitted
    this.items = fitted.items
    // The model needs tools to read a handle, until it is dropped.
    for (const id of report.turnedToHandles) visible.showHandle(id)
    visible.hide(fitted.dropped.flatMap(callIds))
    this.#shed.handles.push(...report.turnedToHandles)
    this.#shed.dropped.push(...fitted.dropped.flatMap((item) => this.#places.get(item) ?? []))
    for (const { id, text } of context) {
      if (report.droppedContext.includes(id)) this.#dropped.add(text)
    }
    for (const item of fitted.dropped)
      if (isContext(item)) this.#dropped.add(spokenText(item.parts))
    return fitted
  }

  async #count(budget: HistoryBudget): Promise<void> {
    const { items, handles, summary } = this.history
    const { shown } = this.#parts.state
    for (; this.#counted < items.length; this.#counted++) {
      const item = items[this.#counted] as HistoryItem
      this.#places.set(item, this.history.base + this.#counted)
      if (summary !== undefined && this.#counted === 0) {
        await budget.pin(item)
        continue
      }
      if (this.history.isDropped(this.#counted)) {
        budget.skip(item)
        continue
      }
      // A receipt stays as it is.
      const call = item.type === 'call' && !item.background ? shown.get(item.id) : undefined
      const isHandle = item.type === 'call' && handles.has(item.id)
      await budget.append(item, call, { message: messageAfter(items, this.#counted), isHandle })
    }
    this.items = budget.items
  }
}

/** A report without what `shed` says; a limit of `Infinity` has no form in JSON. */
function reportData({ limit, fits, total, parts, groups }: BudgetReport): JsonObject {
  const counts = { fits, total: { ...total }, groups: { ...groups } }
  const each = Object.fromEntries(
    Object.entries(parts).map(([part, count]) => [part, { ...count }]),
  )
  return { ...(Number.isFinite(limit) && { limit }), ...counts, parts: each }
}

const callIds = (item: HistoryItem | undefined): readonly string[] =>
  item?.type === 'call' || item?.type === 'openCall' ? [item.id] : []

/** Providers accept a change after a message or a result, but not right after a response of the model. */
const mayFollow = (last: HistoryItem | undefined): boolean =>
  last?.type === 'call'
    ? last.executedBy === 'runner'
    : last?.type === 'message' && last.role === 'user'

function changeItem(change: PromptChange): MessageItem {
  const { instructions } = change
  const parts = instructions
    ? [{ type: 'text', text: `${CHANGED}\n\n${instructions}` } as const]
    : []
  return { type: 'message', role: 'system', parts, change }
}

const isContext = (item: HistoryItem | undefined): item is MessageItem =>
  item?.type === 'message' && item.context !== undefined

/** The place of the user's message that context belongs to, if it stands before one. */
function messageAfter(items: readonly HistoryItem[], from: number): number | undefined {
  if (!isContext(items[from])) return undefined
  let at = from
  while (isContext(items[at])) at++
  const next = items[at]
  const isSaid = next?.type === 'message' && next.role === 'user' && next.resultOf === undefined
  return isSaid ? at : undefined
}
