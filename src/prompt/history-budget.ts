import type { ToolDefinition } from '../model/tool-definition.ts'
import type {
  CallItem,
  CallResult,
  HistoryItem,
  MessageItem,
  OpenCallItem,
} from '../records/history-item.ts'
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

/** What earlier requests and other items say about an item. */
interface Appended {
  /** The number of the message that context belongs to. */
  readonly message?: number | undefined
  /** True when an earlier request showed the result as a handle. */
  readonly isHandle?: boolean
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
  /** The list grows with every `append`: copy it to keep it. */
  readonly items: readonly HistoryItem[]
  readonly context: readonly ContextPiece[]
  /** Items that were removed since the previous request. */
  readonly dropped: readonly HistoryItem[]
  readonly report: BudgetReport
}

/** Keeps a conversation's history within a budget, item by item; see `PromptBudget` for what goes first. */
export class HistoryBudget {
  readonly #budget: PromptBudget<HistoryItem>
  readonly #count: CountText
  readonly #countTools: (tools: readonly ToolDefinition[]) => ReturnType<typeof countItem>
  readonly #handleOf: HistoryBudgetOptions['handleOf']
  /** The calls that became handles, as they are sent. */
  readonly #handles = new WeakMap<HistoryItem, CallItem>()
  readonly #openCalls = new OpenCalls()
  /** In which group each open call stands. */
  readonly #openedIn = new WeakMap<HistoryItem, string>()
  #items: HistoryItem[] = []
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
  async append(
    item: HistoryItem,
    call?: ToolCall,
    { message, isHandle }: Appended = {},
  ): Promise<void> {
    const place = `#${this.#appended++}`
    const { context } = item as Partial<MessageItem>
    const id = item.type === 'call' || item.type === 'openCall' ? item.id : (context?.id ?? place)
    const group = item.response ?? (message === undefined ? place : `#${message}`)
    const answers = this.#answeredBy(item, group)
    const countHandle =
      item.type === 'call' && call ? () => this.#countHandle(item, call) : undefined
    const form = isHandle && countHandle ? 'handle' : 'full'
    const isKept = this.#budget.append({
      id,
      item,
      group,
      form,
      ...(answers !== undefined && { answers }),
      ...(item.type === 'openCall' && { isOpen: mayBeSettled(item) }),
      isUser:
        item.type === 'message' &&
        item.role === 'user' &&
        item.resultOf === undefined &&
        (!context || message !== undefined),
      ...(context && { weight: context.weight }),
      count: await (isHandle && countHandle ? countHandle() : countItem(item, this.#count)),
      ...(countHandle && { countHandle }),
    })
    if (isKept) this.#items.push(form === 'full' ? item : (this.#handles.get(item) ?? item))
  }

  /** Adds an item that stands before all others and is never dropped. */
  async pin(item: HistoryItem): Promise<void> {
    const id = `#${this.#appended++}`
    const count = await countItem(item, this.#count)
    this.#budget.pin({ id, item, group: id, isUser: false, count })
    this.#items.push(item)
  }

  /** Leaves out an item that an earlier request dropped. */
  skip(item: HistoryItem): void {
    this.#answeredBy(item, `#${this.#appended++}`)
  }

  /** Adds context before the last item, which is a message of the user. */
  async prepend(items: readonly MessageItem[]): Promise<void> {
    for (const item of items) {
      const { id = '', weight = 0 } = item.context ?? {}
      const count = await countItem(item, this.#count)
      this.#budget.prepend({ id, item, group: '', isUser: true, weight, count })
    }
    this.#items.splice(-1, 0, ...items)
    this.#appended += items.length
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

  /** The items that requests show. The list grows with every `append`. */
  get items(): readonly HistoryItem[] {
    return this.#items
  }

  /** Counts everything that the request would hold, in tokens. */
  async measure({ instructions, tools, context = [], output }: RequestParts): Promise<number> {
    const textOf = (text?: string) => (text === undefined ? NO_TOKENS : this.#countOnce(text))
    this.#budget.setFixed('instructions', await textOf(instructions))
    this.#budget.setFixed('tools', await this.#countTools(tools ?? []))
    const schema = output === undefined ? undefined : JSON.stringify(output)
    this.#budget.setFixed('output', await textOf(schema))
    const pieces = []
    for (const piece of context) pieces.push({ piece, count: await textOf(piece.text) })
    this.#budget.setContext(pieces.map(({ piece, count }) => ({ ...piece, count })))
    return this.#budget.total.tokens
  }

  /** The items that requests show, by the items that were added. */
  shown(): Map<HistoryItem, { readonly item: HistoryItem; readonly tokens: number }> {
    const shown = Array.from(this.#budget.kept(), ({ item, form, count: { tokens } }) => {
      const sent = form === 'full' ? item : (this.#handles.get(item) ?? item)
      return [item, { item: sent, tokens }] as const
    })
    return new Map(shown)
  }

  /** Counts everything that the request would hold and sheds what it must. */
  async fit(parts: RequestParts): Promise<FittedRequest> {
    const { context = [] } = parts
    await this.measure(parts)
    const report = await this.#budget.fit()
    if (report.turnedToHandles.length + this.#budget.dropped.length > 0) this.#rebuild()
    const gone = new Set(report.droppedContext)
    const left = gone.size === 0 ? context : context.filter(({ id }) => !gone.has(id))
    return { items: this.#items, context: left, dropped: this.#budget.dropped, report }
  }

  /** Counts of texts that are the same in every request. */
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
    const { foreign } = item
    const result = await this.#handleOf(call)
    const handle = { ...item, result, ...(foreign && { foreign: { asked: foreign.asked } }) }
    this.#handles.set(item, handle)
    return countItem(handle, this.#count)
  }

  #rebuild(): void {
    this.#items = Array.from(this.#budget.kept(), ({ item, form }) =>
      form === 'full' ? item : (this.#handles.get(item) ?? item),
    )
  }
}

/** A declined call, or one without an id on its wire, never gets a result from the provider. */
const mayBeSettled = ({ gate, wire }: OpenCallItem): boolean =>
  gate?.decision?.approved !== false && (wire.callId ?? wire.itemId) !== undefined
