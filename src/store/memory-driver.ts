import { CLOSED_STATES } from './gate-row.ts'
import type { EntryFilter } from './store.ts'
import type {
  AppendBatch,
  ConversationRow,
  EntryRow,
  GateRow,
  StoreDriver,
} from './store-driver.ts'

interface HeldRow extends EntryRow {
  readonly conversation: string
  readonly position: number
}

/** Everything that memory holds of one conversation. */
interface Held {
  row: ConversationRow
  readonly entries: EntryRow[]
  /** Where each entry stands among those of the whole store. */
  readonly positions: number[]
  /** Entries by kind, then id. */
  readonly byId: Map<string, Map<string, EntryRow>>
  readonly gates: Map<string, GateRow>
  readonly references: Set<string>
}

/** The tables of a store as plain collections; no method awaits anything, so each is one transaction. */
export function memoryDriver(): StoreDriver {
  const held = new Map<string, Held>()
  const blobs = new Map<string, Uint8Array>()
  let positions = 0

  const entriesOf = function* (conversation: string | undefined): Generator<HeldRow> {
    if (conversation === undefined) {
      const all = [...held.values()].flatMap((known) => [...heldRows(known)])
      yield* all.sort((a, b) => a.position - b.position)
      return
    }
    const known = held.get(conversation)
    if (known !== undefined) yield* heldRows(known)
  }

  const rowsOf = (conversation: string, from: number, limit: number) => {
    const start = Math.max(0, from - 1)
    return held.get(conversation)?.entries.slice(start, start + limit) ?? []
  }

  const store = (into: Held, batch: AppendBatch) => {
    const { updatedAt, seal, sealedSeq } = batch
    for (const entry of batch.entries) {
      into.entries.push(entry)
      into.positions.push(++positions)
      if (entry.id === null) continue
      let ofKind = into.byId.get(entry.kind)
      if (ofKind === undefined) into.byId.set(entry.kind, (ofKind = new Map<string, EntryRow>()))
      ofKind.set(entry.id, entry)
    }
    for (const gate of batch.gates) into.gates.set(gate.id, gate)
    for (const { digest, bytes } of batch.blobs) {
      if (!blobs.has(digest)) blobs.set(digest, bytes.slice())
    }
    for (const digest of batch.references) into.references.add(digest)
    const length = into.row.length + batch.entries.length
    into.row = { ...into.row, length, updatedAt, seal, sealedSeq }
  }

  return {
    durable: false,

    async acquire({ conversation: id, owner, now, until, force, key, keyCheck }) {
      const known = held.get(id)
      if (known === undefined) {
        const times = { createdAt: now, updatedAt: now, leaseUntil: until }
        const log = { epoch: 1, length: 0, sealedSeq: 0, seal: '' }
        const row = { id, owner, key, keyCheck, ...times, ...log }
        const empty = {
          entries: [],
          positions: [],
          byId: new Map(),
          gates: new Map(),
          references: new Set<string>(),
        }
        held.set(id, { row, ...empty })
        return { granted: true, created: true, row }
      }
      const granted = force || known.row.leaseUntil <= now
      if (granted) {
        known.row = { ...known.row, owner, leaseUntil: until, epoch: known.row.epoch + 1 }
      }
      return { granted, created: false, row: known.row }
    },

    async extend(conversation, epoch, until) {
      const known = held.get(conversation)
      if (known?.row.epoch === epoch) known.row = { ...known.row, leaseUntil: until }
      return known?.row
    },

    async append(conversation, epoch, plan) {
      const known = held.get(conversation)
      if (known === undefined) return { status: 'missing' }
      const { row, gates } = known
      if (row.epoch !== epoch) return { status: 'stale', current: row.epoch }
      const unsealed = plan.seals ? known.entries.slice(row.sealedSeq) : []
      const digests = unsealed.map(({ digest }) => digest)
      const batch = plan.prepare({ row, gates, unsealed: digests })
      if (hasDuplicate(known, batch.entries)) return { status: 'duplicate' }
      store(known, batch)
      return { status: 'done' }
    },

    texts: async (conversation, from, limit) => rowsOf(conversation, from, limit),
    rows: async (conversation, from, limit) => rowsOf(conversation, from, limit),

    text: async (conversation, kind, id) => held.get(conversation)?.byId.get(kind)?.get(id),

    async find(filter, after, limit) {
      const found: HeldRow[] = []
      for (const row of entriesOf(filter.conversation)) {
        if (row.position > after && matches(row, filter)) found.push(row)
        if (found.length === limit) break
      }
      return found
    },

    async count(filter) {
      let count = 0
      for (const row of entriesOf(filter.conversation)) if (matches(row, filter)) count++
      return count
    },

    conversation: async (id) => held.get(id)?.row,

    async conversations(after, limit) {
      const ids = [...held.keys()].filter((id) => id > after).sort()
      return ids.slice(0, limit).flatMap((id) => held.get(id)?.row ?? [])
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

    blob: async (digest) => blobs.get(digest)?.slice(),

    async references(conversation, after, limit) {
      const from = conversation === undefined ? [...held.values()] : [held.get(conversation)]
      const digests = new Set(from.flatMap((known) => [...(known?.references ?? [])]))
      return [...digests]
        .filter((digest) => digest > after)
        .sort()
        .slice(0, limit)
    },

    async delete(conversation) {
      const known = held.get(conversation)
      if (known === undefined) return false
      held.delete(conversation)
      const others = [...held.values()]
      for (const digest of known.references) {
        if (!others.some(({ references }) => references.has(digest))) blobs.delete(digest)
      }
      return true
    },

    close: async () => undefined,
  }
}

function* heldRows({ row, entries, positions }: Held): Generator<HeldRow> {
  for (const [i, entry] of entries.entries()) {
    yield { ...entry, conversation: row.id, position: positions[i] as number }
  }
}

/** Whether an id is there already, in the log or twice among the new entries. */
function hasDuplicate({ byId }: Held, entries: readonly EntryRow[]): boolean {
  const added = new Set<string>()
  return entries.some(({ kind, id }) => {
    if (id === null) return false
    if (byId.get(kind)?.has(id)) return true
    const before = added.size
    return added.add(`${kind} ${id}`).size === before
  })
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
