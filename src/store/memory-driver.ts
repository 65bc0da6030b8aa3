import type { SmallText } from '../spool/small-text.ts'
import type { NewEntry } from './entry.ts'
import { CLOSED_STATES } from './gate-row.ts'
import { LastingEntry } from './lasting-entry.ts'
import type { LazySeal } from './lazy-seal.ts'
import { MemoryRow } from './memory-row.ts'
import { type EntryFilter, isText, type StoredBlob } from './store.ts'
import type {
  BlobRow,
  ConversationRow,
  EntryRow,
  FoundText,
  GateRow,
  HeldRow,
  MemoryBatch,
  MemoryState,
  StoreDriver,
} from './store-driver.ts'

/** A conversation as it was when somebody asked; its seal is computed when it is read. */
class MemoryConversation implements ConversationRow {
  readonly id: string
  readonly createdAt: number
  readonly key: Uint8Array | null
  readonly keyCheck: string
  updatedAt: number
  epoch = 1
  owner: string
  leaseUntil: number
  length = 0
  sealedSeq = 0
  sealing: LazySeal | undefined

  constructor(from: Pick<ConversationRow, 'id' | 'createdAt' | 'key' | 'keyCheck'> & Lease) {
    this.id = from.id
    this.createdAt = from.createdAt
    this.key = from.key
    this.keyCheck = from.keyCheck
    this.updatedAt = from.createdAt
    this.owner = from.owner
    this.leaseUntil = from.leaseUntil
  }

  get seal(): string {
    return this.sealing?.text ?? ''
  }

  snapshot(): MemoryConversation {
    return Object.assign(new MemoryConversation(this), this)
  }
}

type Lease = Pick<ConversationRow, 'owner' | 'leaseUntil'>

/** Everything that memory holds of one conversation. */
class Held implements MemoryState {
  readonly row: MemoryConversation
  readonly entries: HeldRow[] = []
  /** Where each entry stands among those of the whole store. */
  readonly positions: number[] = []
  readonly gates = new Map<string, GateRow>()
  /** Some of them more than once. */
  readonly references: string[] = []
  /** The kinds of which there is one for each call have tables of their own: no call looks for them. */
  readonly #intents = new Map<string, HeldRow>()
  readonly #settlements = new Map<string, HeldRow>()
  readonly #others = new Map<string, Map<string, HeldRow>>()

  constructor(row: MemoryConversation) {
    this.row = row
  }

  get sealing(): LazySeal | undefined {
    return this.row.sealing
  }

  unsealed(): readonly HeldRow[] {
    return this.entries.slice(this.row.sealedSeq)
  }

  /** The entries of a kind by id; undefined where there is none. */
  byId(kind: string): Map<string, HeldRow> | undefined {
    if (kind === 'settlement') return this.#settlements
    return kind === 'intent' ? this.#intents : this.#others.get(kind)
  }

  add(entry: HeldRow, position: number): void {
    this.entries.push(entry)
    this.positions.push(position)
    if (entry.sealing !== undefined) {
      this.row.sealing = entry.sealing
      this.row.sealedSeq = entry.seq
    }
    const { kind, id } = entry
    if (id === null) return
    let ofKind = this.byId(kind)
    if (ofKind === undefined) this.#others.set(kind, (ofKind = new Map<string, HeldRow>()))
    ofKind.set(id, entry)
  }
}

/** The tables of a store as plain collections; no method awaits anything, so each is one transaction. */
export function memoryDriver(): StoreDriver {
  const held = new Map<string, Held>()
  const blobs = new MemoryBlobs()
  let positions = 0
  /** Changes with the references, which are asked for page by page and sorted once for all pages. */
  let version = 0
  let sorted: { of: string | undefined; version: number; digests: string[] } | undefined

  const entriesOf = function* (conversation: string | undefined): Generator<Placed> {
    if (conversation === undefined) {
      const all = [...held.values()].flatMap((known) => [...placed(known)])
      yield* all.sort((a, b) => a.position - b.position)
      return
    }
    const known = held.get(conversation)
    if (known !== undefined) yield* placed(known)
  }

  const rowsOf = (conversation: string, from: number, limit: number) => {
    const start = Math.max(0, from - 1)
    return held.get(conversation)?.entries.slice(start, start + limit) ?? []
  }

  const store = (into: Held, batch: MemoryBatch) => {
    const { row } = into
    for (const entry of batch.entries) into.add(entry, ++positions)
    for (const [id, gate] of batch.gates) into.gates.set(id, gate)
    for (const blob of batch.blobs) blobs.add(blob)
    for (const digest of batch.references) into.references.push(digest)
    version++
    row.length += batch.entries.length
    row.updatedAt = batch.updatedAt
  }

  return {
    durable: false,

    async acquire({ conversation: id, owner, now, until, force, key, keyCheck }) {
      const known = held.get(id)
      if (known === undefined) {
        const lease = { owner, leaseUntil: until }
        const row = new MemoryConversation({ id, createdAt: now, key, keyCheck, ...lease })
        held.set(id, new Held(row))
        return { granted: true, created: true, row: row.snapshot() }
      }
      const { row } = known
      const granted = force || row.leaseUntil <= now
      if (granted) {
        row.owner = owner
        row.leaseUntil = until
        row.epoch++
      }
      return { granted, created: false, row: row.snapshot() }
    },

    async extend(conversation, epoch, until) {
      const row = held.get(conversation)?.row
      if (row?.epoch === epoch) row.leaseUntil = until
      return row?.snapshot()
    },

    append(conversation, epoch, plan) {
      const known = held.get(conversation)
      if (known === undefined) return { status: 'missing' }
      const { row } = known
      if (row.epoch !== epoch) return { status: 'stale', current: row.epoch }
      const batch = plan.hold(known)
      if (hasDuplicate(known, batch.entries)) return { status: 'duplicate' }
      store(known, batch)
      return DONE
    },

    keep({ conversation, epoch, entries, blobs: texts }, now) {
      if (!entries.every(isKept) || !texts.every(isText)) return undefined
      const known = held.get(conversation)
      if (known === undefined) return { status: 'missing' }
      const { row, references } = known
      if (row.epoch !== epoch) return { status: 'stale', current: row.epoch }
      const rows = entries.map(
        (entry, at) => new MemoryRow(entry, row.length + at + 1, now, epoch, undefined),
      )
      if (hasDuplicate(known, rows)) return { status: 'duplicate' }
      for (let at = 0; at < rows.length; at++) {
        known.add(rows[at] as MemoryRow, ++positions)
        for (const digest of (entries[at] as unknown as LastingEntry).references)
          references.push(digest)
      }
      for (const text of texts) {
        blobs.addText(text)
        if (references.at(-1) !== text.digest) references.push(text.digest)
      }
      version++
      row.length += rows.length
      row.updatedAt = now
      return DONE
    },

    texts: async (conversation, from, limit) => rowsOf(conversation, from, limit),
    rows: async (conversation, from, limit) => rowsOf(conversation, from, limit),

    text: async (conversation, kind, id) => held.get(conversation)?.byId(kind)?.get(id),

    async find(filter, after, limit) {
      const found: FoundText[] = []
      for (const { row, conversation, position } of entriesOf(filter.conversation)) {
        if (position > after && matches(row, filter)) {
          const { seq, digest, seal, body } = row
          found.push({ seq, digest, seal, body, conversation, position })
        }
        if (found.length === limit) break
      }
      return found
    },

    async count(filter) {
      let count = 0
      for (const { row } of entriesOf(filter.conversation)) if (matches(row, filter)) count++
      return count
    },

    conversation: async (id) => held.get(id)?.row.snapshot(),

    async conversations(after, limit) {
      const ids = [...held.keys()].filter((id) => id > after).sort()
      return ids.slice(0, limit).flatMap((id) => held.get(id)?.row.snapshot() ?? [])
    },

    gate: async (conversation, id) => held.get(conversation)?.gates.get(id),

    async gates({ conversation, open, limit }) {
      const chosen = conversation === undefined ? [...held.keys()].sort() : [conversation]
      const all = chosen.flatMap((id) => [...(held.get(id)?.gates.values() ?? [])])
      return all.filter(({ state }) => !open || !CLOSED_STATES.includes(state)).slice(0, limit)
    },

    async replaceGate(gate, expected) {
      const gates = held.get(gate.conversation)?.gates
      if (gates?.get(gate.id)?.digest !== expected) return false
      gates.set(gate.id, gate)
      return true
    },

    async blob(digest) {
      const blob = blobs.get(digest)
      return blob instanceof Uint8Array ? blob.slice() : blob?.bytes()
    },

    async references(conversation, after, limit) {
      if (sorted === undefined || sorted.of !== conversation || sorted.version !== version) {
        const from = conversation === undefined ? [...held.values()] : [held.get(conversation)]
        const digests = new Set(from.flatMap((known) => known?.references ?? []))
        sorted = { of: conversation, version, digests: [...digests].sort() }
      }
      const { digests } = sorted
      const start = after === '' ? 0 : digests.findIndex((digest) => digest > after)
      return start === -1 ? [] : digests.slice(start, start + limit)
    },

    async delete(conversation) {
      const known = held.get(conversation)
      if (known === undefined) return false
      held.delete(conversation)
      version++
      const needed = new Set([...held.values()].flatMap(({ references }) => references))
      for (const digest of known.references) if (!needed.has(digest)) blobs.delete(digest)
      return true
    },

    close: async () => undefined,
  }
}

/** Small results by digest. Texts find their places when somebody looks: most are never asked for again. */
class MemoryBlobs {
  readonly #byDigest = new Map<string, StoredBlob>()
  #unplaced: SmallText[] = []
  #unplacedBytes = 0

  addText(text: SmallText): void {
    this.#unplaced.push(text)
    this.#unplacedBytes += text.byteLength
    // Any number of them may say the same.
    if (this.#unplacedBytes > MANY_BYTES) this.#place()
  }

  add({ digest, blob }: BlobRow): void {
    if (isText(blob)) this.addText(blob)
    // A copy, which `slice` of a Node buffer is not.
    else if (!this.#byDigest.has(digest)) this.#byDigest.set(digest, new Uint8Array(blob))
  }

  get(digest: string): StoredBlob | undefined {
    this.#place()
    return this.#byDigest.get(digest)
  }

  delete(digest: string): void {
    this.#place()
    this.#byDigest.delete(digest)
  }

  #place(): void {
    for (const text of this.#unplaced) {
      if (!this.#byDigest.has(text.digest)) this.#byDigest.set(text.digest, text)
    }
    this.#unplaced = []
    this.#unplacedBytes = 0
  }
}

/** So much room may be taken by texts that are there already. */
const MANY_BYTES = 1024 * 1024

const DONE = { status: 'done' } as const

/** Not the end of a turn, which is sealed. */
const isKept = (entry: NewEntry) => entry instanceof LastingEntry && entry.kind !== 'turn-end'

interface Placed {
  readonly row: HeldRow
  readonly conversation: string
  readonly position: number
}

function* placed({ row: { id: conversation }, entries, positions }: Held): Generator<Placed> {
  for (const [i, row] of entries.entries()) {
    yield { row, conversation, position: positions[i] as number }
  }
}

/** Whether an id is there already, in the log or twice among the new entries. */
function hasDuplicate(known: Held, entries: readonly EntryRow[]): boolean {
  for (let at = 0; at < entries.length; at++) {
    const { kind, id } = entries[at] as EntryRow
    if (id !== null && known.byId(kind)?.has(id)) return true
  }
  return entries.length <= FEW ? hasTwins(entries) : hasTwinsAmongMany(entries)
}

/** Up to here looking at every pair is faster than making a table. */
const FEW = 24

function hasTwins(entries: readonly EntryRow[]): boolean {
  for (let at = 1; at < entries.length; at++) {
    const { kind, id } = entries[at] as EntryRow
    if (id === null) continue
    for (let before = 0; before < at; before++) {
      const other = entries[before] as EntryRow
      if (other.id === id && other.kind === kind) return true
    }
  }
  return false
}

function hasTwinsAmongMany(entries: readonly EntryRow[]): boolean {
  const ids = entries.flatMap(({ kind, id }) => (id === null ? [] : [`${kind} ${id}`]))
  return new Set(ids).size < ids.length
}

function matches(row: EntryRow, filter: EntryFilter): boolean {
  const { turnId, kind, id, checksum, tool, settlement, since, until } = filter
  return (
    (turnId === undefined || row.turn === turnId) &&
    (kind === undefined || row.kind === kind) &&
    (id === undefined || row.id === id) &&
    (checksum === undefined || row.checksum === checksum) &&
    (tool === undefined || row.tool === tool) &&
    (settlement === undefined || row.settlement === settlement) &&
    (since === undefined || row.time >= since) &&
    (until === undefined || row.time < until)
  )
}
