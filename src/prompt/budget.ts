import type { TokenCount } from '../text/token-count.ts'
import { BudgetGroups, type GroupEntry, type KeptItem } from './budget-groups.ts'
import type { BudgetReport, FixedPart } from './budget-report.ts'
import { addCounts, NO_TOKENS } from './count-item.ts'

export interface BudgetOptions {
  /** Tokens that a request may hold. */
  readonly limit: number
  /**
   * How far shedding goes once it is needed, as a share of `limit`. Going below the limit at once keeps
   * the following requests alike, so that prompt caches hold.
   */
  readonly target?: number
}

/** A memory or retrievable with its weight; see `ContextPiece`. */
export interface WeighedPiece {
  readonly id: string
  readonly weight: number
  readonly count: TokenCount
}

const DEFAULT_TARGET = 0.8

const sumOf = (pieces: Iterable<WeighedPiece>) =>
  addCounts(...Array.from(pieces, ({ count }) => count))

/**
 * Keeps count of everything that is sent and decides what goes when there is not room for all of it:
 * old results become handles, then the oldest groups go, then the newest results become handles, then
 * the least of the context goes. The newest message of the user stays, whatever happens.
 *
 * Appending costs the same however long the history is, and what was shed stays shed.
 */
export class PromptBudget<Item> {
  readonly limit: number
  readonly #target: number
  readonly #groups = new BudgetGroups<Item>()
  readonly #fixed: Record<FixedPart, TokenCount> = {
    instructions: NO_TOKENS,
    tools: NO_TOKENS,
    context: NO_TOKENS,
    output: NO_TOKENS,
  }
  #context: readonly WeighedPiece[] = []
  /** What the last `fit` dropped, and what was left out since the one before it. */
  dropped: readonly Item[] = []
  /** Items left out since the last report. */
  #leftOut: GroupEntry<Item>[] = []

  constructor({ limit, target = DEFAULT_TARGET }: BudgetOptions) {
    this.limit = limit
    this.#target = Math.floor(limit * Math.min(Math.max(target, 0), 1))
  }

  /** Says what a part that goes with every request costs now. */
  setFixed(part: Exclude<FixedPart, 'context'>, count: TokenCount): void {
    this.#fixed[part] = count
  }

  /** Says which memories and retrievables the next request would add. */
  setContext(pieces: readonly WeighedPiece[]): void {
    this.#context = pieces
    this.#fixed.context = sumOf(pieces)
  }

  /** False when the item is left out, because it settles a call that was dropped. */
  append(entry: GroupEntry<Item>): boolean {
    const isKept = this.#groups.append(entry)
    if (!isKept) this.#leftOut.push(entry)
    return isKept
  }

  /** Adds an item that stands before all others and is never dropped. */
  pin(entry: GroupEntry<Item>): void {
    this.#groups.pin(entry)
  }

  /** Adds context that stands before the newest message of the user. */
  prepend(entry: GroupEntry<Item>): void {
    this.#groups.prepend(entry)
  }

  get total(): TokenCount {
    const { instructions, tools, context, output } = this.#fixed
    return addCounts(this.#groups.total, instructions, tools, context, output)
  }

  /** Sheds as much as the limit demands and tells about it. Without need it looks at nothing. */
  async fit(): Promise<BudgetReport> {
    const turnedToHandles: string[] = []
    const dropped = this.#leftOut
    this.#leftOut = []
    let context: readonly GroupEntry<Item>[] = []
    let droppedContext: readonly string[] = []
    if (this.#over(this.limit) > 0) {
      const groups = this.#groups
      turnedToHandles.push(...(await groups.shrinkOld(() => this.#over(this.#target))))
      // A little room would be gone after the next request, and every step breaks the prefix.
      const enough = (this.#target + this.limit) / 2
      if (this.#over(enough) > 0) dropped.push(...groups.drop(() => this.#over(this.#target)))
      turnedToHandles.push(...(await groups.shrinkNewest(() => this.#over(this.limit))))
      droppedContext = this.#dropContext()
      context = groups.dropContext(() => this.#over(this.limit))
      droppedContext = [...droppedContext, ...context.map(({ id }) => id)]
    }
    this.dropped = [...dropped, ...context].map(({ item }) => item)
    const ids = dropped.map(({ id }) => id)
    return this.#report({ turnedToHandles, dropped: ids, droppedContext })
  }

  /** The items to send, oldest first, and how each is shown. */
  kept(): IterableIterator<KeptItem<Item>> {
    return this.#groups.kept()
  }

  #over(limit: number): number {
    return this.total.tokens - limit
  }

  #dropContext(): readonly string[] {
    const dropped: string[] = []
    const kept = new Set(this.#context)
    for (const piece of [...kept].sort((a, b) => a.weight - b.weight)) {
      if (this.#over(this.limit) <= 0) break
      kept.delete(piece)
      dropped.push(piece.id)
      this.#fixed.context = sumOf(kept)
    }
    return dropped
  }

  #report(
    shed: Pick<BudgetReport, 'turnedToHandles' | 'dropped' | 'droppedContext'>,
  ): BudgetReport {
    const total = this.total
    const parts = { ...this.#fixed, history: this.#groups.total }
    const fits = total.tokens <= this.limit
    return { limit: this.limit, fits, total, parts, ...shed, groups: this.#groups.sizes }
  }
}
