import { sha256Hex } from '#hash'
import { SmallText } from '../spool/small-text.ts'
import { ENTRY_VERSION, type Entry, type GateClosing, type NewEntry } from './entry.ts'
import { referencesOf } from './entry-references.ts'
import { columnText, type EntryStamp, encodeEntry } from './entry-text.ts'
import type { Gate } from './gate.ts'
import { closedGate, decodeGate, encodeGate, openedGate } from './gate-row.ts'
import { plainEntry } from './lasting-entry.ts'
import { LazySeal } from './lazy-seal.ts'
import { MemoryRow } from './memory-row.ts'
import { type Redact, redactEntry } from './redaction.ts'
import { sealOf } from './seal.ts'
import { MAX_BLOB_BYTES, type StoredBlob } from './store.ts'
import type {
  AppendBatch,
  AppendPlan,
  AppendState,
  BlobRow,
  ConversationRow,
  EntryRow,
  GateRow,
  MemoryBatch,
  MemoryState,
} from './store-driver.ts'
import { invalidInput, notFound } from './store-errors.ts'

/** What an append is made of. */
export interface AppendRequest {
  readonly conversation: string
  readonly epoch: number
  readonly entries: readonly NewEntry[]
  readonly blobs: readonly StoredBlob[]
  readonly now: number
  readonly redact: Redact | undefined
  /** The key, asked for when a turn ends. */
  readonly key: (row: ConversationRow) => Uint8Array
  /** What imported entries bring along; they also may close gates that nobody decided here. */
  readonly imported?: readonly ImportedStamp[] | undefined
}

/** What an entry keeps of its life in another store. */
export interface ImportedStamp {
  readonly time: number
  readonly redacted?: readonly string[]
}

/** Turns entries into rows: stamps, redacts, hashes, seals, and moves the gates they open and close. */
export class PlannedAppend implements AppendPlan {
  readonly gates: readonly string[]
  readonly seals: boolean
  readonly #request: AppendRequest
  readonly #clean: readonly Moved[]
  #rows: readonly EntryRow[] = []
  #stored: readonly Moved[] = []

  constructor(request: AppendRequest) {
    const { entries, redact } = request
    this.#request = request
    const clean: Moved[] = []
    const opened: string[] = []
    const closed: string[] = []
    let seals = false
    for (const entry of entries) {
      if (entry.kind === 'gate-opened') opened.push(entry.data.id)
      else if (entry.kind === 'gate-closed') closed.push(entry.data.id)
      else if (entry.kind === 'turn-end') seals = true
      // What closes a gate is complete, and can be redacted, only when its gate has been read.
      const isWhole = redact === undefined || entry.kind === 'gate-closed'
      clean.push(isWhole ? { entry } : redactEntry(plainEntry(entry), redact))
    }
    this.#clean = clean
    this.seals = seals
    this.gates = closed.filter((id) => !opened.includes(id)).map(columnText)
  }

  prepare(state: AppendState): AppendBatch {
    const { conversation, key, now } = this.#request
    const digests = [...state.unsealed]
    const rows: EntryRow[] = []
    let { seal, sealedSeq } = state.row
    const gates = this.#stamp(state, (entry, stamp) => {
      let row = encodeEntry(plainEntry(entry), stamp)
      digests.push(row.digest)
      if (entry.kind === 'turn-end') {
        seal = sealOf({ key: key(state.row), conversation, previous: seal, digests })
        sealedSeq = stamp.seq
        digests.length = 0
        row = { ...row, seal }
      }
      rows.push(row)
    })
    this.#rows = rows
    const bytes = this.#bytes()
    const blobs = bytes.blobs.map(({ digest, blob }) => ({ digest, bytes: bytesOf(blob) }))
    const references = [...bytes.references]
    return { entries: rows, blobs, references, gates, seal, sealedSeq, updatedAt: now }
  }

  hold(state: MemoryState): MemoryBatch {
    const { conversation, key } = this.#request
    const rows: MemoryRow[] = []
    let { sealing: previous } = state
    let unsealed = this.seals ? [...state.unsealed()] : []
    const gates = this.#stamp(state, (entry, stamp) => {
      const row = new MemoryRow(entry, stamp)
      rows.push(row)
      if (!this.seals) return
      unsealed.push(row)
      if (entry.kind !== 'turn-end') return
      const sealed = { key: key(state.row), conversation, previous, rows: unsealed }
      row.sealing = previous = new LazySeal(sealed)
      unsealed = []
    })
    this.#rows = rows
    const { blobs, references } = this.#bytes()
    return { entries: rows, blobs, references, gates, updatedAt: this.#request.now }
  }

  /** The entries as they were stored. */
  stored(): readonly Entry[] {
    const { epoch } = this.#request
    return this.#stored.map(({ entry, redacted }, at) =>
      entryOf(plainEntry(entry), { epoch, redacted }, this.#rows[at] as EntryRow),
    )
  }

  /** Gives each entry its place and time; what becomes of the gates comes back. */
  #stamp(
    state: { readonly row: ConversationRow; readonly gates: ReadonlyMap<string, GateRow> },
    take: (entry: NewEntry, stamp: EntryStamp) => void,
  ): readonly GateRow[] {
    const { imported, now, epoch } = this.#request
    const stored: Moved[] = []
    let gates: Map<string, GateRow> | undefined
    let seq = state.row.length
    for (const part of this.#clean) {
      const brought = imported?.[stored.length]
      const time = brought?.time ?? now
      let moved = part
      if (part.entry.kind === 'gate-opened' || part.entry.kind === 'gate-closed') {
        gates ??= new Map()
        moved = moveGate(this.#request, part, time, gates, state.gates)
      }
      const redacted = union(brought?.redacted, moved.redacted)
      stored.push(redacted === undefined ? moved : { entry: moved.entry, redacted })
      take(moved.entry, { seq: ++seq, time, epoch, redacted })
    }
    this.#stored = stored
    return gates === undefined ? [] : [...gates.values()]
  }

  /** The blobs, and what the entries refer to; results that were redacted are not stored at all. */
  #bytes(): { readonly blobs: readonly BlobRow[]; readonly references: ReadonlySet<string> } {
    const { entries, redact } = this.#request
    const references = new Set<string>()
    for (const { entry } of this.#clean) {
      for (const digest of referencesOf(entry)) references.add(digest)
    }
    const isRedacted = (digest: string) =>
      !references.has(digest) && entries.some((entry) => referencesOf(entry).includes(digest))
    const blobs: BlobRow[] = []
    for (const blob of this.#request.blobs) {
      const digest = blob instanceof SmallText ? blob.digest : sha256Hex(blob)
      if (redact === undefined || !isRedacted(digest)) blobs.push({ digest, blob })
    }
    for (const { digest } of blobs) references.add(digest)
    return { blobs, references }
  }
}

/** The bytes of a blob; a text has them only now. */
export function bytesOf(blob: StoredBlob): Uint8Array {
  return blob instanceof SmallText ? blob.bytes() : blob
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

interface Moved {
  readonly entry: NewEntry
  readonly redacted?: readonly string[]
}

/** What an entry does to a gate; one that closes it is completed with the decision that was used. */
function moveGate(
  request: AppendRequest,
  part: Moved,
  now: number,
  moved: Map<string, GateRow>,
  known: ReadonlyMap<string, GateRow>,
): Moved {
  const { entry } = part
  const { conversation, imported, redact } = request
  const put = (gate: Gate) => void moved.set(columnText(gate.id), encodeGate(gate))
  if (entry.kind === 'gate-opened') {
    put(openedGate(entry.data, { conversation, turnId: entry.turnId, now }))
    return part
  }
  if (entry.kind !== 'gate-closed') return part
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
  for (const [index, { byteLength }] of blobs.entries()) {
    if (byteLength > MAX_BLOB_BYTES) {
      const rule = `has ${byteLength} bytes: what is larger than ${MAX_BLOB_BYTES} goes to the spool`
      throw invalidInput(`blobs.${index}`, rule)
    }
  }
}
