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
  /** An open call that a later item may settle; it stays as long as its turn is the newest. */
  readonly isOpen?: boolean
  readonly isUser: boolean
  /** Set on context, which may be dropped alone. */
  readonly weight?: number
  readonly count: TokenCount
  /** How it is shown; in full unless given. */
  readonly form?: ItemForm
  /** Counts the smaller form of a call's result; absent if it has no smaller form. */
  readonly countHandle?: () => Promise<TokenCount>
}

/** An item that is sent, how it is shown, and what it costs. */
export interface KeptItem<Item> {
  readonly item: Item
  readonly form: ItemForm
  readonly count: TokenCount
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
  /** How many of its open calls nothing has settled yet. */
  open: number
  /** The groups that settle what this one left open, and those whose open calls it settles. */
  readonly linked: Group<Item>[]
}

/** How much too much there still is; nothing more goes at zero or below. */
type Excess = () => number

/** The history in groups, oldest first. Every cursor only moves forward, so shedding never starts over. */
export class BudgetGroups<Item> {
  readonly #groups: Group<Item>[] = []
  /** What stands before the groups and is never dropped. */
  readonly #pinned: Slot<Item>[] = []
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
  /** Groups of the newest turn before it are dropped, except those that a later group needs. */
  #firstOfTurn = 0

  /** False when the item settles a call that was dropped: it is left out like that. */
  append(entry: GroupEntry<Item>): boolean {
    const opened = entry.answers === undefined ? undefined : this.#byName.get(entry.answers)
    if (entry.answers !== undefined && opened === undefined) return false
    const group = this.#byName.get(entry.group) ?? this.#begin(entry)
    if (opened !== undefined) {
      if (opened.open > 0) opened.open--
      if (opened !== group) {
        opened.linked.push(group)
        group.linked.push(opened)
      }
    }
    if (entry.isOpen) group.open++
    group.slots.push({ entry, form: entry.form ?? 'full', count: entry.count })
    this.#account(entry.count, 1)
    return true
  }

  /** Puts an item before all groups, for good. */
  pin(entry: GroupEntry<Item>): void {
    this.#pinned.push({ entry, form: 'full', count: entry.count })
    this.#account(entry.count, 1)
  }

  #begin({ group: name, isUser }: GroupEntry<Item>): Group<Item> {
    const at = this.#groups.length
    const group = { at, isUser, slots: [], isDropped: false, open: 0, linked: [] }
    this.#groups.push(group)
    this.#byName.set(name, group)
    if (isUser) this.#newestUser = at
    return group
  }

  /** Puts context before the newest message of the user. */
  prepend(entry: GroupEntry<Item>): void {
    const { slots } = this.#groups[this.#newestUser] as Group<Item>
    const at = slots.findIndex((slot) => slot.entry.weight === undefined)
    slots.splice(at, 0, { entry, form: 'full', count: entry.count })
    this.#account(entry.count, 1)
  }

  /** Drops the context of the newest message, what weighs least first. */
  dropContext(excess: Excess): GroupEntry<Item>[] {
    const slots = this.#groups[this.#newestUser]?.slots ?? []
    const weightOf = ({ entry }: Slot<Item>) => entry.weight ?? 0
    const context = slots.filter(({ entry }) => entry.weight !== undefined)
    const dropped: GroupEntry<Item>[] = []
    for (const slot of context.sort((one, other) => weightOf(one) - weightOf(other))) {
      if (excess() <= 0) break
      slots.splice(slots.indexOf(slot), 1)
      this.#account(slot.count, -1)
      dropped.push(slot.entry)
    }
    return dropped
  }

  get total(): TokenCount {
    return { tokens: this.#tokens, isEstimate: this.#estimates > 0 }
  }

  get sizes(): { readonly kept: number; readonly dropped: number } {
    return { kept: this.#groups.length - this.#dropped, dropped: this.#dropped }
  }

  *kept(): IterableIterator<KeptItem<Item>> {
    for (const { entry, form, count } of this.#pinned) yield { item: entry.item, form, count }
    for (let at = this.#firstKept; at < this.#groups.length; at++) {
      const group = this.#groups[at]
      if (group === undefined || group.isDropped) continue
      for (const { entry, form, count } of group.slots) yield { item: entry.item, form, count }
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
   * the oldest responses of the newest turn. Its message and the newest group stay, what the newest group
   * settles, and the calls of the newest turn that are still open: the provider continues them.
   */
  drop(excess: Excess): GroupEntry<Item>[] {
    const dropped: GroupEntry<Item>[] = []
    while (excess() > 0 && this.#firstKept < this.#newestUser) {
      const turns = this.#oldestTurns()
      if (!this.#drop(turns, dropped)) break
      while (this.#groups[this.#firstKept]?.isDropped) this.#firstKept++
    }
    this.#firstOfTurn = Math.max(this.#firstOfTurn, this.#newestUser + 1)
    const last = this.#groups.length - 1
    for (; excess() > 0 && this.#firstOfTurn < last; this.#firstOfTurn++) {
      this.#drop(this.#withLinked(this.#firstOfTurn), dropped)
    }
    return dropped
  }

  /** The oldest turn, whole, and everything that has to go with it. */
  #oldestTurns(): Set<Group<Item>> {
    const going = new Set<Group<Item>>()
    let next = this.#firstKept
    const takeTurns = (until: number) => {
      do going.add(this.#groups[next++] as Group<Item>)
      while (next < this.#newestUser && (next <= until || !this.#groups[next]?.isUser))
    }
    takeTurns(next)
    // A set that grows while it is gone through is gone through to its end.
    for (const { linked } of going) {
      for (const other of linked) {
        if (other.at > this.#newestUser) going.add(other)
        else if (other.at >= next) takeTurns(other.at)
      }
    }
    return going
  }

  /** A group, what settles its open calls, what it settles, and so on. */
  #withLinked(at: number): Set<Group<Item>> {
    const going = new Set([this.#groups[at] as Group<Item>])
    for (const { linked } of going) for (const other of linked) going.add(other)
    return going
  }

  /** Drops all of them, or none where one of them has to stay. */
  #drop(groups: ReadonlySet<Group<Item>>, dropped: GroupEntry<Item>[]): boolean {
    for (const { at, open } of groups) {
      if (at === this.#groups.length - 1 || (open > 0 && at > this.#newestUser)) return false
    }
    const oldestFirst = [...groups].sort((one, other) => one.at - other.at)
    for (const group of oldestFirst) this.#dropOne(group, dropped)
    return true
  }

  #dropOne(group: Group<Item>, dropped: GroupEntry<Item>[]): void {
    if (group.isDropped) return
    group.isDropped = true
    this.#dropped++
    for (const { entry, count } of group.slots) {
      this.#account(count, -1)
      dropped.push(entry)
    }
    // A dropped group never comes back, so only its place is kept.
    const name = group.slots[0]?.entry.group
    if (name !== undefined) this.#byName.delete(name)
    group.slots.length = 0
  }

  #account(count: TokenCount, sign: 1 | -1): void {
    this.#tokens += sign * count.tokens
    if (count.isEstimate) this.#estimates += sign
  }
}
