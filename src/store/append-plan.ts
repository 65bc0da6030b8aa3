import { sha256Hex } from '#hash'
import type { AppendRequest } from './append-request.ts'
import { ENTRY_VERSION, type Entry, type GateClosing, type NewEntry } from './entry.ts'
import { referencesOf } from './entry-references.ts'
import { columnText, type EntryStamp, encodeEntry } from './entry-text.ts'
import type { Gate } from './gate.ts'
import { closedGate, decodeGate, encodeGate, openedGate } from './gate-row.ts'
import { plainEntry } from './lasting-entry.ts'
import { LazySeal } from './lazy-seal.ts'
import type { BlobRow, MemoryBatch, MemoryState } from './memory-append.ts'
import { MemoryRow } from './memory-row.ts'
import { type Redact, redactEntry } from './redaction.ts'
import { sealOf } from './seal.ts'
import { isText, MAX_BLOB_BYTES, type StoredBlob } from './store.ts'
import type { AppendBatch, AppendPlan, AppendState } from './store-driver.ts'
import { invalidInput, notFound } from './store-errors.ts'
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
  readonly #clean: readonly NewEntry[]
  /** What was removed from each entry, by its place. */
  #redacted: Map<number, readonly string[]> | undefined
  /** Entries that are complete only since their gates have been read. */
  #completed: Map<number, NewEntry> | undefined
  #gates: Map<string, GateRow> | undefined
  #rows: readonly EntryRow[] = []

  constructor(request: AppendRequest, settings: AppendSettings, now: number) {
    this.#request = request
    this.#settings = settings
    this.#now = now
    const { entries } = request
    const { redact } = settings
    this.#clean = redact === undefined ? entries : this.#redact(entries, redact)
    let seals = false
    let closes = false
    for (let at = 0; at < entries.length; at++) {
      const { kind } = entries[at] as NewEntry
      seals ||= kind === 'turn-end'
      closes ||= kind === 'gate-closed'
    }
    this.seals = seals
    this.gates = closes ? gatesToRead(entries) : NONE
  }

  #redact(entries: readonly NewEntry[], redact: Redact): readonly NewEntry[] {
    return entries.map((entry, at) => {
      // What closes a gate is complete, and can be redacted, only when its gate has been read.
      if (entry.kind === 'gate-closed') return entry
      const clean = redactEntry(plainEntry(entry), redact)
      if (clean.redacted !== undefined) this.#noteRemoved(at, clean.redacted)
      return clean.entry
    })
  }

  prepare(state: AppendState): AppendBatch {
    const { conversation, epoch } = this.#request
    const { key } = this.#settings
    const digests = [...state.unsealed]
    this.#gates = undefined
    let { seal, sealedSeq } = state.row
    const rows = this.#clean.map((_, at): EntryRow => {
      const seq = state.row.length + at + 1
      const entry = plainEntry(this.#entry(at, state.gates))
      const stamp = { seq, time: this.#time(at), epoch, redacted: this.#removed(at) }
      const row = encodeEntry(entry, stamp)
      digests.push(row.digest)
      if (entry.kind !== 'turn-end') return row
      seal = sealOf({ key: key(state.whole()), conversation, previous: seal, digests })
      sealedSeq = seq
      digests.length = 0
      return { ...row, seal }
    })
    this.#rows = rows
    const blobs = this.#blobs().map(({ digest, blob }) => ({ digest, bytes: bytesOf(blob) }))
    const references = [...new Set(this.#references(blobs))]
    const gates = [...(this.#gates ?? NO_GATES).values()]
    return { entries: rows, blobs, references, gates, seal, sealedSeq, updatedAt: this.#now }
  }

  hold(state: MemoryState): MemoryBatch {
    const { epoch } = this.#request
    this.#gates = undefined
    const rows = this.#clean.map((_, at) => {
      const entry = this.#entry(at, state.gates)
      const seq = state.row.length + at + 1
      return new MemoryRow(entry, seq, this.#time(at), epoch, this.#removed(at))
    })
    if (this.seals) this.#seal(rows, state)
    this.#rows = rows
    const blobs = this.#blobs()
    const gates = this.#gates ?? NO_GATES
    return {
      entries: rows,
      blobs,
      references: this.#references(blobs),
      gates,
      updatedAt: this.#now,
    }
  }

  #seal(rows: readonly MemoryRow[], state: MemoryState): void {
    const { conversation } = this.#request
    const { key } = this.#settings
    let { sealing: previous } = state
    let before: ReturnType<MemoryState['unsealed']> | undefined = state.unsealed()
    let unsealed: MemoryRow[] = []
    for (const row of rows) {
      unsealed.push(row)
      if (row.kind !== 'turn-end') continue
      const sealed = { key: key(state.row), conversation, previous, before, rows: unsealed }
      row.sealing = previous = new LazySeal(sealed)
      before = undefined
      unsealed = []
    }
  }

  /** The entries as they were stored. */
  stored(): readonly Entry[] {
    const { epoch } = this.#request
    return this.#clean.map((clean, at) => {
      const entry = plainEntry(this.#completed?.get(at) ?? clean)
      return entryOf(entry, { epoch, redacted: this.#removed(at) }, this.#rows[at] as EntryRow)
    })
  }

  #time(at: number): number {
    return this.#request.imported?.[at]?.time ?? this.#now
  }

  #removed(at: number): readonly string[] | undefined {
    return union(this.#request.imported?.[at]?.redacted, this.#redacted?.get(at))
  }

  #noteRemoved(at: number, paths: readonly string[]): void {
    this.#redacted ??= new Map()
    this.#redacted.set(at, paths)
  }

  /** The entry at a place, when it has done to its gate what it does. */
  #entry(at: number, known: ReadonlyMap<string, GateRow>): NewEntry {
    const entry = this.#clean[at] as NewEntry
    if (entry.kind !== 'gate-opened' && entry.kind !== 'gate-closed') return entry
    this.#gates ??= new Map()
    const done = moveGate(this.#request, this.#settings, entry, this.#time(at), this.#gates, known)
    if (done.redacted !== undefined) this.#noteRemoved(at, done.redacted)
    if (done.entry !== entry) (this.#completed ??= new Map()).set(at, done.entry)
    return done.entry
  }

  /** The blobs to store; results that were redacted are none of them. */
  #blobs(): readonly BlobRow[] {
    const { entries } = this.#request
    const { redact } = this.#settings
    const blobs = this.#request.blobs.map(blobRow)
    if (redact === undefined) return blobs
    const before = new Set(entries.flatMap(referencesOf))
    const after = new Set(this.#clean.flatMap(referencesOf))
    return blobs.filter(({ digest }) => after.has(digest) || !before.has(digest))
  }

  /** What the entries refer to, and what is stored with them; some of it more than once. */
  #references(blobs: readonly { readonly digest: string }[]): readonly string[] {
    // Most of the time there is one: a list that grows takes more room than the rest of the append.
    let few = NONE
    let many: string[] | undefined
    for (let at = 0; at < this.#clean.length; at++) {
      const own = referencesOf(this.#clean[at] as NewEntry)
      if (few.length === 0) few = own
      else for (const digest of own) (many ??= [...few]).push(digest)
    }
    for (const { digest } of blobs) {
      const isKnown = many === undefined && few.length === 1 && few[0] === digest
      if (!isKnown) (many ??= [...few]).push(digest)
    }
    return many ?? few
  }
}

function blobRow(blob: StoredBlob): BlobRow {
  return { digest: isText(blob) ? blob.digest : sha256Hex(blob), blob }
}

const NONE: readonly string[] = []
const NO_GATES: ReadonlyMap<string, GateRow> = new Map()

/** The gates that an append closes without having opened them. */
function gatesToRead(entries: readonly NewEntry[]): readonly string[] {
  const opened = new Set<string>()
  const closed: string[] = []
  for (const entry of entries) {
    if (entry.kind === 'gate-opened') opened.add(entry.data.id)
    else if (entry.kind === 'gate-closed') closed.push(entry.data.id)
  }
  return closed.filter((id) => !opened.has(id)).map(columnText)
}

/** The bytes of a blob; a text has them only now. */
function bytesOf(blob: StoredBlob): Uint8Array {
  return isText(blob) ? blob.bytes() : blob
}

function union(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  return a && b ? [...new Set([...a, ...b])] : (a ?? b)
}

function entryOf(
  { kind, turnId, data }: NewEntry,
  { epoch, redacted }: Pick<EntryStamp, 'epoch' | 'redacted'>,
  { seq, time, digest, seal }: EntryRow,
): Entry {
  const entry = { v: ENTRY_VERSION, kind, seq, turnId, time, epoch, data, digest }
  if (redacted !== undefined) Object.assign(entry, { redacted })
  if (seal !== null) Object.assign(entry, { seal })
  return Object.freeze(entry) as Entry
}

/** What an entry does to a gate; one that closes it is completed with the decision that was used. */
function moveGate(
  { conversation, imported }: AppendRequest,
  { redact }: AppendSettings,
  entry: NewEntry & { kind: 'gate-opened' | 'gate-closed' },
  now: number,
  moved: Map<string, GateRow>,
  known: ReadonlyMap<string, GateRow>,
): ReturnType<typeof redactEntry> {
  const put = (gate: Gate) => void moved.set(columnText(gate.id), encodeGate(gate))
  if (entry.kind === 'gate-opened') {
    put(openedGate(entry.data, { conversation, turnId: entry.turnId, now }))
    return { entry }
  }
  const { id, outcome } = entry.data
  const row = moved.get(columnText(id)) ?? known.get(columnText(id))
  if (row === undefined) throw notFound('gate', id)
  const gate = decodeGate(row)
  const { decision } = imported ? entry.data : closedGate(gate, entry.data, now)
  const data = { id, outcome, ...(decision && { decision }) }
  const clean = redactEntry({ ...entry, data }, redact)
  const kept = (clean.entry.data as GateClosing).decision
  put({ ...gate, state: outcome, ...(kept && { decision: kept }) })
  return clean
}

/** Refuses bytes that belong on the spool. */
export function assertBlobs(blobs: readonly StoredBlob[]): void {
  for (let index = 0; index < blobs.length; index++) {
    const blob = blobs[index] as StoredBlob
    if (isText(blob) && typeof blob.bytes !== 'function') {
      throw invalidInput(`blobs.${index}`, 'must be a Uint8Array')
    }
    const { byteLength } = blob
    if (byteLength > MAX_BLOB_BYTES) {
      const rule = `has ${byteLength} bytes: what is larger than ${MAX_BLOB_BYTES} goes to the spool`
      throw invalidInput(`blobs.${index}`, rule)
    }
  }
}
