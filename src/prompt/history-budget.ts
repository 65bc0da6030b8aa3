import type { ToolDefinition } from '../model/tool-definition.ts'
import { growingHistory } from '../records/growing-history.ts'
import type { CallItem, CallResult, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { OpenCalls } from '../records/open-calls.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { type BudgetOptions, PromptBudget } from './budget.ts'
import type { BudgetReport } from './budget-report.ts'
import { type CountText, countItem, NO_TOKENS, textCounter, toolsCounter } from './count-item.ts'
import type { ContextPiece } from './render-context.ts'

export interface HistoryBudgetOptions extends BudgetOptions {
  /** Quick estimates unless given; see `textCounter`. */
  readonly count?: CountText
  /** A settled call's result in its smaller form. */
  readonly handleOf: (call: ToolCall) => Promise<CallResult>
}

/** What goes with a request besides the history. */
export interface RequestParts {
  readonly instructions?: string
  readonly tools?: readonly ToolDefinition[]
  readonly context?: readonly ContextPiece[]
  /** The JSON Schema of a structured answer. */
  readonly output?: unknown
}

/** A request that was made to fit. */
export interface FittedRequest {
  /** The same array, grown, until something is shed; a new one then. */
  readonly items: readonly HistoryItem[]
  readonly context: readonly ContextPiece[]
  /** The ids of the calls that are not in it any more, since the request before. */
  readonly droppedCalls: readonly string[]
  readonly report: BudgetReport
}

/** Keeps a conversation's history within a budget, item by item; see `PromptBudget` for what goes first. */
export class HistoryBudget {
  readonly #budget: PromptBudget<HistoryItem>
  readonly #count: CountText
  readonly #countTools: (tools: readonly ToolDefinition[]) => ReturnType<typeof countItem>
  readonly #handleOf: HistoryBudgetOptions['handleOf']
  /** Calls as handles, made once: an encoder knows an item by its identity. */
  readonly #handles = new WeakMap<HistoryItem, CallItem>()
  readonly #openCalls = new OpenCalls()
  /** In which group each open call stands. */
  readonly #openedIn = new WeakMap<HistoryItem, string>()
  #items = growingHistory()
  #appended = 0

  constructor({ count = textCounter(), handleOf, ...options }: HistoryBudgetOptions) {
    this.#budget = new PromptBudget(options)
    this.#count = count
    this.#countTools = toolsCounter(count)
    this.#handleOf = handleOf
  }

  /**
   * Adds an item; a settled call comes with its record, so that it can become a handle. Await each
   * before the next: the order of the items is the order in which they are counted.
   */
  async append(item: HistoryItem, call?: ToolCall): Promise<void> {
    const place = `#${this.#appended++}`
    const id = item.type === 'call' || item.type === 'openCall' ? item.id : place
    const group = item.response ?? place
    const answers = this.#answeredBy(item, group)
    const isKept = this.#budget.append({
      id,
      item,
      group,
      ...(answers !== undefined && { answers }),
      ...(item.type === 'openCall' && { isOpen: mayBeSettled(item) }),
      isUser: item.type === 'message' && item.role === 'user',
      count: await countItem(item, this.#count),
      ...(item.type === 'call' && call && { countHandle: () => this.#countHandle(item, call) }),
    })
    if (isKept) this.#items.push(item)
  }

  /** The group whose open call this item settles. */
  #answeredBy(item: HistoryItem, group: string): string | undefined {
    if (item.type === 'openCall') {
      this.#openCalls.see(item)
      this.#openedIn.set(item, group)
    }
    if (item.type !== 'call' || item.executedBy !== 'provider') return undefined
    const opened = this.#openCalls.take(item)
    return opened && this.#openedIn.get(opened)
  }

  /** Counts everything that the request would hold and sheds what it must. */
  async fit({ instructions, tools, context = [], output }: RequestParts): Promise<FittedRequest> {
    const textOf = (text?: string) => (text === undefined ? NO_TOKENS : this.#countOnce(text))
    this.#budget.setFixed('instructions', await textOf(instructions))
    this.#budget.setFixed('tools', await this.#countTools(tools ?? []))
    const schema = output === undefined ? undefined : JSON.stringify(output)
    this.#budget.setFixed('output', await textOf(schema))
    const pieces = []
    for (const piece of context) pieces.push({ piece, count: await textOf(piece.text) })
    this.#budget.setContext(pieces.map(({ piece, count }) => ({ ...piece, count })))
    const report = await this.#budget.fit()
    if (report.turnedToHandles.length + report.dropped.length > 0) this.#rebuild()
    const gone = new Set(report.droppedContext)
    const left = gone.size === 0 ? context : context.filter(({ id }) => !gone.has(id))
    const droppedCalls = this.#budget.dropped.flatMap((item) =>
      item.type === 'call' || item.type === 'openCall' ? item.id : [],
    )
    return { items: this.#items, context: left, droppedCalls, report }
  }

  /** What is the same text in every request is counted once. */
  readonly #texts = new Map<string, ReturnType<CountText>>()

  #countOnce(text: string): ReturnType<CountText> {
    let count = this.#texts.get(text)
    if (count === undefined) {
      if (this.#texts.size > 200) this.#texts.clear()
      count = this.#count(text)
      this.#texts.set(text, count)
    }
    return count
  }

  async #countHandle(item: CallItem, call: ToolCall): ReturnType<typeof countItem> {
    const handle = { ...item, result: await this.#handleOf(call) }
    this.#handles.set(item, handle)
    return countItem(handle, this.#count)
  }

  #rebuild(): void {
    const kept = Array.from(this.#budget.kept(), ({ item, form }) =>
      form === 'full' ? item : (this.#handles.get(item) ?? item),
    )
    this.#items = growingHistory(kept)
  }
}

/** What somebody declined, or its wire has no name for, never comes back from the provider. */
const mayBeSettled = ({ gate, wire }: OpenCallItem): boolean =>
  gate?.decision?.approved !== false && (wire.callId ?? wire.itemId) !== undefined
