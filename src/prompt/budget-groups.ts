import type { TokenCount } from '../text/token-count.ts'
import type { ItemForm } from './item-form.ts'

/** One item of the history with what it costs. */
export interface GroupEntry<Item> {
  readonly id: string
  readonly item: Item
  /**
   * Items of one group are kept or dropped together: a model's response with its reasoning, its calls
   * and their results; or one message of the user.
   */
  readonly group: string
  /** An earlier group that holds the open call which this item settles: it is dropped with this one. */
  readonly answers?: string
  readonly isUser: boolean
  readonly count: TokenCount
  /** Counts the smaller form of a call's result; absent when there is none. */
  readonly countHandle?: () => TokenCount | Promise<TokenCount>
}

interface Slot<Item> {
  readonly entry: GroupEntry<Item>
  form: ItemForm
  count: TokenCount
}

interface Group<Item> {
  readonly at: number
  readonly isUser: boolean
  readonly slots: Slot<Item>[]
  isDropped: boolean
  /** The newest group that settles what this one left open. */
  answeredAt: number
}

/** How much too much there still is; nothing more goes at zero or below. */
type Excess = () => number

/** The history in groups, oldest first. Every cursor only moves forward, so shedding never starts over. */
export class BudgetGroups<Item> {
  readonly #groups: Group<Item>[] = []
  readonly #byName = new Map<string, Group<Item>>()
  #tokens = 0
  #estimates = 0
  #dropped = 0
  /** The newest group that holds a message of the user. */
  #newestUser = -1
  /** Groups before it have their results as handles. */
  #shrunk = 0
  /** Groups before it are dropped. */
  #firstKept = 0
  /** Groups of the newest turn before it are dropped, save the user's message. */
  #firstKeptOfTurn = 0

  append(entry: GroupEntry<Item>): void {
    let group = this.#byName.get(entry.group)
    if (group === undefined || group.isDropped) {
      const at = this.#groups.length
      group = { at, isUser: entry.isUser, slots: [], isDropped: false, answeredAt: at }
      this.#groups.push(group)
      this.#byName.set(entry.group, group)
      if (entry.isUser) this.#newestUser = at
    }
    const opened = entry.answers === undefined ? undefined : this.#byName.get(entry.answers)
    if (opened !== undefined) opened.answeredAt = Math.max(opened.answeredAt, group.at)
    group.slots.push({ entry, form: 'full', count: entry.count })
    this.#account(entry.count, 1)
  }

  get total(): TokenCount {
    return { tokens: this.#tokens, isEstimate: this.#estimates > 0 }
  }

  get sizes(): { readonly kept: number; readonly dropped: number } {
    return { kept: this.#groups.length - this.#dropped, dropped: this.#dropped }
  }

  *kept(): IterableIterator<{ readonly item: Item; readonly form: ItemForm }> {
    for (let at = this.#firstKept; at < this.#groups.length; at++) {
      const group = this.#groups[at]
      if (group === undefined || group.isDropped) continue
      for (const { entry, form } of group.slots) yield { item: entry.item, form }
    }
  }

  /** Turns results into handles, oldest first, up to the newest group. */
  async shrinkOld(excess: Excess): Promise<string[]> {
    const shrunk: string[] = []
    this.#shrunk = Math.max(this.#shrunk, this.#firstKept)
    while (excess() > 0 && this.#shrunk < this.#groups.length - 1) {
      const group = this.#groups[this.#shrunk]
      const all = await this.#shrink(group, excess, shrunk)
      if (all) this.#shrunk++
    }
    return shrunk
  }

  /** The last resort for results that alone are too much. */
  async shrinkNewest(excess: Excess): Promise<string[]> {
    const shrunk: string[] = []
    await this.#shrink(this.#groups.at(-1), excess, shrunk)
    return shrunk
  }

  /** True when the group was gone through to its end. */
  async #shrink(
    group: Group<Item> | undefined,
    excess: Excess,
    shrunk: string[],
  ): Promise<boolean> {
    if (group === undefined || group.isDropped) return true
    for (const slot of group.slots) {
      if (excess() <= 0) return false
      const { countHandle, id } = slot.entry
      if (countHandle === undefined || slot.form === 'handle') continue
      const count = await countHandle()
      if (count.tokens >= slot.count.tokens) continue
      this.#account(slot.count, -1)
      this.#account(count, 1)
      slot.form = 'handle'
      slot.count = count
      shrunk.push(id)
    }
    return true
  }

  /**
   * Drops earlier turns, oldest first and whole, so that a history always begins with the user; then
   * the oldest responses of the newest turn. Its message and the newest group stay, and what the newest
   * group settles.
   */
  drop(excess: Excess): string[] {
    const dropped: string[] = []
    while (excess() > 0) {
      const end = this.#endOfNext()
      if (end >= this.#groups.length) break
      while (this.#firstKept < Math.min(end, this.#newestUser)) {
        this.#drop(this.#firstKept++, dropped)
      }
      while (this.#firstKeptOfTurn < end) this.#drop(this.#firstKeptOfTurn++, dropped)
    }
    return dropped
  }

  /** Behind the last group that has to go with the oldest: of its turn, and what settles its open calls. */
  #endOfNext(): number {
    this.#firstKeptOfTurn = Math.max(this.#firstKeptOfTurn, this.#newestUser + 1)
    let at = this.#firstKept < this.#newestUser ? this.#firstKept : this.#firstKeptOfTurn
    let end = at + 1
    for (; at < end; at++) {
      end = Math.max(end, (this.#groups[at]?.answeredAt ?? at) + 1)
      const isLast = at + 1 === end && end < this.#newestUser
      if (isLast && this.#groups[end]?.isUser !== true) end++
    }
    return end
  }

  #drop(at: number, dropped: string[]): void {
    const group = this.#groups[at]
    if (group === undefined || group.isDropped) return
    group.isDropped = true
    this.#dropped++
    for (const { entry, count } of group.slots) {
      this.#account(count, -1)
      dropped.push(entry.id)
    }
    // What is dropped never comes back: only its place is kept.
    const name = group.slots[0]?.entry.group
    if (name !== undefined) this.#byName.delete(name)
    group.slots.length = 0
  }

  #account(count: TokenCount, sign: 1 | -1): void {
    this.#tokens += sign * count.tokens
    if (count.isEstimate) this.#estimates += sign
  }
}
