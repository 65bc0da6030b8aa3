import type { NewEntry } from './entry.ts'
import { columnsOf, columnText, type EntryStamp, encodeEntry, idColumn } from './entry-text.ts'
import { LastingEntry, plainEntry } from './lasting-entry.ts'
import type { LazySeal } from './lazy-seal.ts'
import type { EntryRow } from './store-rows.ts'

/** An entry in memory: what cannot change is written out and hashed when somebody first reads it. */
export class MemoryRow implements EntryRow {
  readonly seq: number
  readonly time: number
  readonly kind: string
  readonly id: string | null
  /** Set on the end of a turn. */
  sealing: LazySeal | undefined
  readonly #epoch: number
  #source: (NewEntry & LastingEntry) | undefined
  #written: EntryRow | undefined

  constructor(entry: NewEntry, stamp: EntryStamp) {
    this.seq = stamp.seq
    this.time = stamp.time
    this.kind = entry.kind
    this.#epoch = stamp.epoch
    if (entry instanceof LastingEntry && stamp.redacted === undefined) {
      this.#source = entry
      this.id = idColumn(entry)
    } else {
      this.#written = encodeEntry(plainEntry(entry), stamp)
      this.id = this.#written.id
    }
  }

  /** The entry as it is stored. */
  get #row(): EntryRow {
    if (this.#written === undefined) {
      const { seq, time } = this
      const entry = (this.#source as LastingEntry).toJSON()
      this.#written = encodeEntry(entry, { seq, time, epoch: this.#epoch })
      this.#source = undefined
    }
    return this.#written
  }

  get turn(): string {
    return this.#source === undefined ? this.#row.turn : columnText(this.#source.turnId)
  }

  get body(): string {
    return this.#row.body
  }

  get digest(): string {
    return this.#row.digest
  }

  get seal(): string | null {
    return this.sealing?.text ?? null
  }

  get tool(): string | null {
    return this.#columns.tool
  }

  get checksum(): string | null {
    return this.#columns.checksum
  }

  get settlement(): string | null {
    return this.#columns.settlement
  }

  get #columns() {
    return this.#source === undefined ? this.#row : columnsOf(this.#source)
  }
}
