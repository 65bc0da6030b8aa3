import type { AppendRequest } from './append-request.ts'
import { type BlobRow, blobRow, bytesOf } from './blob-row.ts'
import { ENTRY_VERSION, type Entry } from './entry.ts'
import { referencesOf } from './entry-references.ts'
import { encodeEntry } from './entry-text.ts'
import { GateMoves, gatesToRead } from './gate-moves.ts'
import { plainEntry } from './lasting-entry.ts'
import { sealRows } from './lazy-seal.ts'
import type { MemoryBatch, MemoryState } from './memory-append.ts'
import { MemoryRow } from './memory-row.ts'
import { type PlannedEntry, redactPlanned } from './planned-entry.ts'
import type { Redact } from './redaction.ts'
import { sealOf } from './seal.ts'
import type { AppendBatch, AppendPlan, AppendState } from './store-driver.ts'
import type { ConversationRow, EntryRow, GateRow } from './store-rows.ts'

/** What all appends of a store have in common. */
export interface AppendSettings {
  readonly redact: Redact | undefined
  /** The key, asked for when a turn ends. */
  readonly key: (row: ConversationRow) => Uint8Array
}

/** Turns entries into rows: stamps, redacts, hashes, seals, and moves the gates they open and close. */
export class PlannedAppend implements AppendPlan {
  readonly gates: readonly string[]
  readonly seals: boolean
  readonly #request: AppendRequest
  readonly #settings: AppendSettings
  readonly #now: number
  readonly #planned: readonly PlannedEntry[]
  /** As the last attempt completed them from their gates. */
  #entries: readonly PlannedEntry[] = []
  #rows: readonly EntryRow[] = []

  constructor(request: AppendRequest, settings: AppendSettings, now: number) {
    this.#request = request
    this.#settings = settings
    this.#now = now
    const { entries, imported } = request
    const { redact } = settings
    this.#planned = entries.map((entry, at) => {
      const { time = now, redacted } = imported?.[at] ?? {}
      // What closes a gate is complete, and can be redacted, only when its gate has been read.
      if (redact === undefined || entry.kind === 'gate-closed') return { entry, time, redacted }
      return redactPlanned({ entry: plainEntry(entry), time, redacted }, redact)
    })
    this.seals = entries.some(({ kind }) => kind === 'turn-end')
    this.gates = gatesToRead(entries)
  }

  prepare(state: AppendState): AppendBatch {
    const { conversation, epoch } = this.#request
    const gates = this.#moveGates(state.gates)
    const digests = [...state.unsealed]
    let { seal, sealedSeq } = state.row
    const rows = this.#entries.map(({ entry, time, redacted }, at) => {
      const seq = state.row.length + at + 1
      const row = encodeEntry(plainEntry(entry), { seq, time, epoch, redacted })
      digests.push(row.digest)
      if (entry.kind !== 'turn-end') return row
      const key = this.#settings.key(state.whole())
      seal = sealOf({ key, conversation, previous: seal, digests })
      sealedSeq = seq
      digests.length = 0
      return { ...row, seal }
    })
    this.#rows = rows
    const blobs = this.#blobs()
    return {
      entries: rows,
      blobs: blobs.map(({ digest, blob }) => ({ digest, bytes: bytesOf(blob) })),
      references: this.#references(blobs),
      gates: [...gates.values()],
      seal,
      sealedSeq,
      updatedAt: this.#now,
    }
  }

  hold(state: MemoryState): MemoryBatch {
    const { conversation, epoch } = this.#request
    const gates = this.#moveGates(state.gates)
    const rows = this.#entries.map(({ entry, time, redacted }, at) => {
      const seq = state.row.length + at + 1
      return new MemoryRow(entry, { seq, time, epoch, redacted })
    })
    if (this.seals) {
      const key = this.#settings.key(state.row)
      sealRows(rows, { key, conversation, previous: state.sealing, before: state.unsealed() })
    }
    this.#rows = rows
    const blobs = this.#blobs()
    const references = this.#references(blobs)
    return { entries: rows, blobs, references, gates, updatedAt: this.#now }
  }

  /** The entries as they were stored. */
  stored(): readonly Entry[] {
    const { epoch } = this.#request
    return this.#entries.map(({ entry, redacted }, at) => {
      const { kind, turnId, data } = plainEntry(entry)
      const { seq, time, digest, seal } = this.#rows[at] as EntryRow
      return Object.freeze({
        ...{ v: ENTRY_VERSION, kind, seq, turnId, time, epoch, data, digest },
        ...(redacted && { redacted }),
        ...(seal !== null && { seal }),
      }) as Entry
    })
  }

  /** The gates that change. Begins anew: a transaction that failed may have shown other ones. */
  #moveGates(known: ReadonlyMap<string, GateRow>): ReadonlyMap<string, GateRow> {
    const moves = new GateMoves(this.#request, this.#settings.redact, known)
    this.#entries = this.#planned.map((planned) => moves.apply(planned))
    return moves.moved
  }

  /** The blobs to store; results that were redacted are none of them. */
  #blobs(): readonly BlobRow[] {
    const blobs = this.#request.blobs.map(blobRow)
    if (this.#settings.redact === undefined) return blobs
    const before = new Set(this.#request.entries.flatMap(referencesOf))
    const after = new Set(this.#planned.flatMap(({ entry }) => referencesOf(entry)))
    return blobs.filter(({ digest }) => after.has(digest) || !before.has(digest))
  }

  /** What the entries refer to, and what is stored with them. */
  #references(blobs: readonly BlobRow[]): readonly string[] {
    const inEntries = this.#planned.flatMap(({ entry }) => referencesOf(entry))
    return [...new Set([...inEntries, ...blobs.map(({ digest }) => digest)])]
  }
}
