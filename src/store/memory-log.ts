import type { EntryKind, NewEntry } from './entry.ts'
import { LastingEntry } from './lasting-entry.ts'
import { MemoryRow } from './memory-row.ts'
import type { HeldRow } from './store-driver.ts'

/** What the entries of an append share. */
export interface AppendStamp {
  readonly turnId: string
  readonly time: number
  readonly epoch: number
}

/**
 * The entries of one conversation in order. What never changes is held as it came, in columns, and becomes a
 * row when it is first read: most entries never are, and a collector follows every object that is held.
 */
export class MemoryLog {
  /** Rows, and the data of entries that nobody has read yet. */
  readonly #held: object[] = []
  readonly #kinds: EntryKind[] = []
  readonly #stamps: AppendStamp[] = []
  /** Where each entry stands among those of the whole store. */
  readonly #positions: number[] = []

  get length(): number {
    return this.#held.length
  }

  /** Holds an entry that never changes as it is. */
  keep({ kind, data }: NewEntry, stamp: AppendStamp, position: number): void {
    this.#add(data, kind, stamp, position)
  }

  add(row: HeldRow, position: number): void {
    this.#add(row, row.kind as EntryKind, WRITTEN, position)
  }

  #add(held: object, kind: EntryKind, stamp: AppendStamp, position: number): void {
    this.#held.push(held)
    this.#kinds.push(kind)
    this.#stamps.push(stamp)
    this.#positions.push(position)
  }

  /** The entry at an index, which is one less than its `seq`. */
  at(index: number): HeldRow {
    const held = this.#held[index]
    if (held instanceof MemoryRow) return held
    const { turnId, time, epoch } = this.#stamps[index] as AppendStamp
    const entry = LastingEntry.restored(this.#kinds[index] as EntryKind, turnId, held as object)
    const row = new MemoryRow(entry, index + 1, time, epoch, undefined)
    this.#held[index] = row
    return row
  }

  position(index: number): number {
    return this.#positions[index] as number
  }

  slice(from: number, to: number): readonly HeldRow[] {
    const rows: HeldRow[] = []
    for (let index = from; index < Math.min(to, this.length); index++) rows.push(this.at(index))
    return rows
  }
}

/** Some entries of a log, which become rows only when they are asked for. */
export class LogRange {
  readonly #log: MemoryLog
  readonly #from: number
  readonly #to: number

  constructor(log: MemoryLog, from: number, to: number) {
    this.#log = log
    this.#from = from
    this.#to = to
  }

  rows(): readonly HeldRow[] {
    return this.#log.slice(this.#from, this.#to)
  }
}

/** A row has its own. */
const WRITTEN: AppendStamp = { turnId: '', time: 0, epoch: 0 }
