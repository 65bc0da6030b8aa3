import { sha256Hex } from '#hash'
import { ENTRY_VERSION, type Entry, type GateClosing, type NewEntry } from './entry.ts'
import { referencesOf } from './entry-references.ts'
import { columnText, type EntryStamp, encodeEntry } from './entry-text.ts'
import type { Gate } from './gate.ts'
import { closedGate, decodeGate, encodeGate, openedGate } from './gate-row.ts'
import { type Redact, redactEntry } from './redaction.ts'
import { sealOf } from './seal.ts'
import { MAX_BLOB_BYTES } from './store.ts'
import type { AppendBatch, AppendPlan, AppendState, EntryRow, GateRow } from './store-driver.ts'
import { invalidInput, notFound } from './store-errors.ts'

/** What an append is made of. */
export interface AppendRequest {
  readonly conversation: string
  readonly epoch: number
  readonly entries: readonly NewEntry[]
  readonly blobs: readonly Uint8Array[]
  readonly now: number
  readonly redact: Redact | undefined
  /** The key, asked for when a turn ends. */
  readonly key: (state: AppendState) => Uint8Array
  /** What imported entries bring along; they also may close gates that nobody decided here. */
  readonly imported?: readonly ImportedStamp[]
}

/** What an entry keeps of its life in another store. */
export interface ImportedStamp {
  readonly time: number
  readonly redacted?: readonly string[]
}

/** An append ready for a driver, and the entries once it is through. */
export interface PlannedAppend extends AppendPlan {
  stored(): readonly Entry[]
}

/** Turns entries into rows: stamps, redacts, hashes, seals, and moves the gates they open and close. */
export function planAppend(request: AppendRequest): PlannedAppend {
  const { entries, redact } = request
  const clean = entries.map((entry) =>
    // What closes a gate is complete, and can be redacted, only when its gate has been read.
    entry.kind === 'gate-closed' ? { entry } : redactEntry(entry, redact),
  )
  const opened = new Set(idsOf(entries, 'gate-opened'))
  const batch = bytesOf(
    request,
    clean.map(({ entry }) => entry),
  )
  const stored: Entry[] = []

  return {
    gates: idsOf(entries, 'gate-closed')
      .filter((id) => !opened.has(id))
      .map(columnText),
    seals: entries.some(({ kind }) => kind === 'turn-end'),
    stored: () => stored,

    prepare(state) {
      const gates = new Map<string, GateRow>()
      const digests = [...state.unsealed]
      const rows: EntryRow[] = []
      let { seal, sealedSeq } = state.row
      const find = (id: string) => gates.get(id) ?? state.gates.get(id)
      stored.length = 0
      clean.forEach((part, index) => {
        const seq = state.row.length + index + 1
        const imported = request.imported?.[index]
        const time = imported?.time ?? request.now
        const moved = moveGate(request, part, time, find)
        const { gate, entry } = moved
        const redacted = union(imported?.redacted, moved.redacted)
        if (gate !== undefined) gates.set(columnText(gate.id), encodeGate(gate))
        const stamp: EntryStamp = { seq, time, epoch: request.epoch, redacted }
        let row = encodeEntry(entry, stamp)
        digests.push(row.digest)
        if (entry.kind === 'turn-end') {
          const { conversation } = request
          seal = sealOf({ key: request.key(state), conversation, previous: seal, digests })
          sealedSeq = seq
          digests.length = 0
          row = { ...row, seal }
        }
        rows.push(row)
        stored.push(entryOf(entry, stamp, row))
      })
      return { ...batch, entries: rows, gates: [...gates.values()], seal, sealedSeq }
    },
  }
}

function union(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  return a && b ? [...new Set([...a, ...b])] : (a ?? b)
}

function entryOf({ kind, turnId, data }: NewEntry, stamp: EntryStamp, row: EntryRow): Entry {
  const { seq, time, epoch, redacted } = stamp
  const { digest, seal } = row
  const entry = { v: ENTRY_VERSION, kind, seq, turnId, time, epoch, data, digest }
  if (redacted !== undefined) Object.assign(entry, { redacted })
  if (seal !== null) Object.assign(entry, { seal })
  return Object.freeze(entry) as Entry
}

/** The blobs, and what the entries refer to; results that were redacted are not stored at all. */
function bytesOf(
  request: AppendRequest,
  clean: readonly NewEntry[],
): Pick<AppendBatch, 'blobs' | 'references' | 'updatedAt'> {
  const kept = new Set<string>()
  for (const entry of clean) for (const digest of referencesOf(entry)) kept.add(digest)
  const isRedacted = (digest: string) =>
    !kept.has(digest) && request.entries.some((entry) => referencesOf(entry).includes(digest))
  const blobs = request.blobs
    .map((bytes) => ({ digest: sha256Hex(bytes), bytes }))
    .filter(({ digest }) => !isRedacted(digest))
  for (const { digest } of blobs) kept.add(digest)
  return { blobs, references: [...kept], updatedAt: request.now }
}

interface Moved {
  readonly entry: NewEntry
  readonly redacted?: readonly string[]
  readonly gate?: Gate
}

/** What an entry does to a gate; one that closes it is completed with the decision that was used. */
function moveGate(
  request: AppendRequest,
  part: Moved,
  now: number,
  find: (id: string) => GateRow | undefined,
): Moved {
  const { entry } = part
  const { conversation, imported, redact } = request
  if (entry.kind === 'gate-opened') {
    return { ...part, gate: openedGate(entry.data, { conversation, turnId: entry.turnId, now }) }
  }
  if (entry.kind !== 'gate-closed') return part
  const { id, outcome } = entry.data
  const row = find(columnText(id))
  if (row === undefined) throw notFound('gate', id)
  const gate = decodeGate(row)
  const { decision } = imported ? entry.data : closedGate(gate, entry.data, now)
  const data = { id, outcome, ...(decision && { decision }) }
  const clean = redactEntry({ ...entry, data }, redact)
  const kept = (clean.entry.data as GateClosing).decision
  return { ...clean, gate: { ...gate, state: outcome, ...(kept && { decision: kept }) } }
}

function idsOf(entries: readonly NewEntry[], kind: 'gate-opened' | 'gate-closed'): string[] {
  return entries.flatMap((entry) => (entry.kind === kind ? [entry.data.id] : []))
}

/** Refuses bytes that belong on the spool. */
export function assertBlobs(blobs: readonly Uint8Array[]): void {
  blobs.forEach((bytes, index) => {
    if (bytes.byteLength > MAX_BLOB_BYTES) {
      const rule = `has ${bytes.byteLength} bytes: what is larger than ${MAX_BLOB_BYTES} goes to the spool`
      throw invalidInput(`blobs.${index}`, rule)
    }
  })
}
