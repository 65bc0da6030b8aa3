import type { JsonObject } from '../core/json.ts'
import type { ToolDefinition } from '../model/tool-definition.ts'
import type { BudgetReport } from '../prompt/budget-report.ts'
import { textCounter } from '../prompt/count-item.ts'
import { HistoryBudget } from '../prompt/history-budget.ts'
import { contextRenderer, instructionsText } from '../prompt/render-context.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { Memory } from '../records/memory.ts'
import type { Retrievable } from '../records/retrievable.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Conversation } from './conversation.ts'
import { overBudget } from './limits.ts'
import type { StopReason } from './outcome.ts'
import type { Presentation } from './presentation.ts'
import type { RunnerSettings } from './runner-options.ts'

/**
 * What the executor is given to send: the history, as much of it as the budget allows, and the
 * instructions with what middleware put beside them. An iteration costs what is new in it, no more.
 */
export class TurnRequest {
  readonly memories: Memory[] = []
  readonly retrievables: Retrievable[] = []
  items: readonly HistoryItem[]
  instructions: string
  readonly #conversation: Conversation
  readonly #settings: RunnerSettings
  readonly #renderContext: ReturnType<typeof contextRenderer>
  readonly #budget: HistoryBudget | undefined
  #counted = 0
  /** How many memories and retrievables the instructions hold. */
  #given = 0

  constructor(settings: RunnerSettings, conversation: Conversation, presentation: Presentation) {
    this.#settings = settings
    this.#conversation = conversation
    this.#renderContext = contextRenderer(presentation.key)
    this.items = conversation.items
    this.instructions = instructionsText(settings.instructions)
    const { budget } = settings
    this.#budget =
      budget &&
      new HistoryBudget({
        limit: budget.maxTokens,
        count: textCounter(budget.encoding),
        handleOf: (call) => presentation.handle(call),
      })
  }

  /**
   * Brings the request up to date before an iteration; a reason to stop when it cannot be made to fit.
   * Without a budget there is nothing to wait for.
   */
  prepare(
    tools: () => readonly ToolDefinition[],
    output: JsonObject | undefined,
    onReport: (report: BudgetReport) => void,
  ): StopReason | undefined | Promise<StopReason | undefined> {
    const { memories, retrievables } = this
    const given = memories.length + retrievables.length
    // Neither is ever taken away again, so as many as before are the same.
    if (this.#budget === undefined && given === this.#given) return undefined
    this.#given = given
    const context = this.#renderContext({ memories, retrievables })
    this.#conversation.lowerTrustUnrecorded(context.trust)
    const instructions = instructionsText(this.#settings.instructions)
    if (this.#budget === undefined) {
      this.instructions = withContext(instructions, context.pieces)
      return undefined
    }
    const parts = { instructions, tools: tools(), context: context.pieces }
    return this.#fit(this.#budget, { ...parts, ...(output && { output }) }, onReport)
  }

  async #fit(
    budget: HistoryBudget,
    request: Parameters<HistoryBudget['fit']>[0],
    onReport: (report: BudgetReport) => void,
  ): Promise<StopReason | undefined> {
    await this.#count(budget)
    const { items, context: kept, droppedCalls, report } = await budget.fit(request)
    this.items = items
    this.instructions = withContext(request.instructions ?? '', kept)
    // What became a handle needs tools to read it, until it is dropped.
    for (const id of report.turnedToHandles) this.#conversation.handles.add(id)
    this.#conversation.hide(droppedCalls)
    onReport(report)
    return report.fits ? undefined : overBudget(report.limit)
  }

  async #count(budget: HistoryBudget): Promise<void> {
    const { items } = this.#conversation
    for (; this.#counted < items.length; this.#counted++) {
      const item = items[this.#counted] as HistoryItem
      const call: ToolCall | undefined =
        item.type === 'call' ? this.#conversation.call(item.id) : undefined
      await budget.append(item, call)
    }
  }
}

/** Behind the instructions: there every protocol takes it, and it stays the same for the whole turn. */
const withContext = (instructions: string, pieces: readonly { readonly text: string }[]): string =>
  [instructions, ...pieces.map(({ text }) => text)].join('\n\n')
