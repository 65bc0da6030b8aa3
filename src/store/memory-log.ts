import type { EntryKind, NewEntry } from './entry.ts'
import { LastingEntry } from './lasting-entry.ts'
import { MemoryRow } from './memory-row.ts'

/** What entries share that follow each other. */
export interface AppendStamp {
  readonly turnId: string
  readonly time: number
  readonly epoch: number
  /** How many entries of other conversations stand before them in the store. */
  readonly others: number
}

/** A cell for what is held, one for its kind, one for its stamp. */
const CELLS = 3

/**
 * The entries of one conversation in order. What never changes is held as it came, and becomes a row when it
 * is first read: most entries never are, and a collector follows every object that is held.
 */
export class MemoryLog {
  readonly #cells: unknown[] = []

  get length(): number {
    return this.#cells.length / CELLS
  }

  /** Holds an entry that never changes as it is. */
  keep({ kind, data }: NewEntry, stamp: AppendStamp): void {
    this.#cells.push(data, kind, stamp)
  }

  add(row: MemoryRow, stamp: AppendStamp): void {
    this.#cells.push(row, row.kind, stamp)
  }

  /** The entry at an index, which is one less than its `seq`. */
  at(index: number): MemoryRow {
    const held = this.#cells[index * CELLS] as object
    if (held instanceof MemoryRow) return held
    const { turnId, time, epoch } = this.#stamp(index)
    const kind = this.#cells[index * CELLS + 1] as EntryKind
    const entry = LastingEntry.around(kind, turnId, held)
    const row = new MemoryRow(entry, { seq: index + 1, time, epoch })
    this.#cells[index * CELLS] = row
    return row
  }

  /** Where an entry stands among those of the whole store. */
  position(index: number): number {
    return index + 1 + this.#stamp(index).others
  }

  #stamp(index: number): AppendStamp {
    return this.#cells[index * CELLS + 2] as AppendStamp
  }

  slice(from: number, to: number): readonly MemoryRow[] {
    const rows: MemoryRow[] = []
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

  rows(): readonly MemoryRow[] {
    return this.#log.slice(this.#from, this.#to)
  }
}
