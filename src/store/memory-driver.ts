import type { NewEntry } from './entry.ts'
import { idColumn } from './entry-text.ts'
import { CLOSED_STATES } from './gate-row.ts'
import { HeldConversation, hasDuplicate, MemoryConversation } from './held-conversation.ts'
import { LastingEntry } from './lasting-entry.ts'
import type { MemoryBatch } from './memory-append.ts'
import { MemoryBlobs } from './memory-blobs.ts'
import type { AppendStamp } from './memory-log.ts'
import { type EntryFilter, isText } from './store.ts'
import type { StoreDriver } from './store-driver.ts'
import type { EntryRow, FoundText } from './store-rows.ts'

/** The tables of a store as plain collections; no method awaits anything, so each is one transaction. */
export function memoryDriver(): StoreDriver {
  const held = new Map<string, HeldConversation>()
  const blobs = new MemoryBlobs()
  /** How many entries there ever were, those of all conversations. */
  let total = 0
  /** Of the last append: those of one turn in one millisecond share it. */
  let lastStamp: AppendStamp = { turnId: '', time: 0, epoch: 0, others: 0 }
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
    const start = from - 1
    return held.get(conversation)?.log.slice(start, start + limit) ?? []
  }

  const stampOf = (turnId: string, time: number, epoch: number, others: number): AppendStamp => {
    const last = lastStamp
    const isSameTurn = last.turnId === turnId && last.epoch === epoch
    const isSamePlace = last.time === time && last.others === others
    return isSameTurn && isSamePlace ? last : (lastStamp = { turnId, time, epoch, others })
  }

  const store = (into: HeldConversation, batch: MemoryBatch) => {
    const { row } = into
    const others = total - into.log.length
    for (const entry of batch.entries) {
      into.add(entry, stampOf(entry.turn, entry.time, row.epoch, others))
    }
    total += batch.entries.length
    for (const [id, gate] of batch.gates) into.gates.set(id, gate)
    for (const blob of batch.blobs) blobs.add(blob)
    for (const digest of batch.references) into.references.push(digest)
    version++
    row.length += batch.entries.length
    row.updatedAt = batch.updatedAt
  }

  return {
    durable: false,

    async acquire({ conversation: id, owner, now, until, force, newKey }) {
      const known = held.get(id)
      if (known === undefined) {
        const lease = { owner, leaseUntil: until }
        const row = new MemoryConversation({ id, createdAt: now, ...newKey(), ...lease })
        held.set(id, new HeldConversation(row))
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
      if (hasDuplicate(known, batch.entries, ({ id }) => id)) return { status: 'duplicate' }
      store(known, batch)
      return DONE
    },

    keep({ conversation, epoch, entries, blobs: texts }, now) {
      if (!entries.every(isKept) || !texts.every(isText)) return undefined
      const known = held.get(conversation)
      if (known === undefined) return { status: 'missing' }
      const { row, references } = known
      if (row.epoch !== epoch) return { status: 'stale', current: row.epoch }
      if (hasDuplicate(known, entries, idColumn)) return { status: 'duplicate' }
      const others = total - known.log.length
      for (let at = 0; at < entries.length; at++) {
        const entry = entries[at] as NewEntry & LastingEntry
        known.keep(entry, stampOf(entry.turnId, now, epoch, others))
        const { reference } = entry
        if (reference !== undefined) references.push(reference)
      }
      for (const text of texts) {
        blobs.addText(text)
        if (references.at(-1) !== text.digest) references.push(text.digest)
      }
      version++
      total += entries.length
      row.length += entries.length
      row.updatedAt = now
      return DONE
    },

    texts: async (conversation, from, limit) => rowsOf(conversation, from, limit),
    rows: async (conversation, from, limit) => rowsOf(conversation, from, limit),

    text: async (conversation, kind, id) => held.get(conversation)?.find(kind, id),

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
      const ids = [...held.keys()].filter((id) => byCodePoint(id, after) > 0).sort(byCodePoint)
      return ids.slice(0, limit).flatMap((id) => held.get(id)?.row.snapshot() ?? [])
    },

    gate: async (conversation, id) => held.get(conversation)?.gates.get(id),

    async gates({ conversation, open, limit }) {
      const chosen = conversation === undefined ? [...held.values()] : [held.get(conversation)]
      return chosen
        .flatMap((known) => known?.gatesAt() ?? [])
        .filter(({ gate }) => !open || !CLOSED_STATES.includes(gate.state))
        .sort((a, b) => a.position - b.position)
        .slice(0, limit)
        .map(({ gate }) => gate)
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

const DONE = { status: 'done' } as const

/** The order of UTF-8, which databases keep: characters of two units come last. */
function byCodePoint(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
}

/** Not the end of a turn, which is sealed. */
const isKept = (entry: NewEntry) => entry instanceof LastingEntry && entry.kind !== 'turn-end'

interface Placed {
  readonly row: EntryRow
  readonly conversation: string
  readonly position: number
}

function* placed({ row: { id: conversation }, log }: HeldConversation): Generator<Placed> {
  for (let index = 0; index < log.length; index++) {
    yield { row: log.at(index), conversation, position: log.position(index) }
  }
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
