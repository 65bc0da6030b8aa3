import type { ConversationListing } from '../rows/conversation-listing.ts'
import { NO_META } from '../rows/conversation-meta.ts'
import { CLOSED_STATES } from '../rows/gate-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import type { ConversationRow, EntryRow, GrantRow } from '../rows/store-rows.ts'
import type { EntryFilter } from '../store.ts'
import { MemoryConversation, type PlacedEntry } from './memory-conversation.ts'
import { memoryFeed } from './memory-feed.ts'
import { memoryGrants } from './memory-grants.ts'

/** The tables of a store as plain collections. No method awaits anything, so each is one transaction. */
export function memoryDriver(): StoreDriver {
  const held = new Map<string, MemoryConversation>()
  const blobs = new Map<string, Uint8Array>()
  /** The conversations that each fork took over. */
  const inherited = new Map<string, ReadonlySet<string>>()
  const { feed, forget } = memoryFeed((conversation) => held.has(conversation))
  const grants = new Map<string, GrantRow>()
  /** The place of the last entry among those of all conversations. */
  let last = 0
  /** The references of the last query, sorted once for all its pages. */
  let sorted: { readonly of: string | undefined; readonly digests: readonly string[] } | undefined

  const chosen = (conversation: string | undefined): readonly MemoryConversation[] => {
    if (conversation === undefined) return [...held.values()]
    const known = held.get(conversation)
    return known === undefined ? [] : [known]
  }

  const matching = ({ conversation, ...filter }: EntryFilter): PlacedEntry[] =>
    chosen(conversation)
      .flatMap((known) => known.entries().filter(({ row }) => matches(row, filter)))
      .sort((a, b) => a.position - b.position)

  const rows = async (conversation: string, from: number, limit: number) =>
    (held.get(conversation)?.entries() ?? [])
      .slice(from - 1, from - 1 + limit)
      .map(({ row }) => row)

  return {
    durable: false,
    feed,

    async acquire({ conversation: id, owner, now, until, force, newKey }) {
      const known = held.get(id)
      if (known === undefined) {
        const row: ConversationRow = {
          ...{ id, owner, createdAt: now, updatedAt: now, leaseUntil: until, ...newKey() },
          ...{ epoch: 1, length: 0, sealedSeq: 0, seal: '', meta: NO_META, parent: null },
          ...{ envelope: null, origin: null, agent: null },
        }
        held.set(id, new MemoryConversation(row, grants))
        return { granted: true, created: true, row }
      }
      const row = known.row()
      if (!force && row.leaseUntil > now) return { granted: false, created: false, row }
      known.lease({ epoch: row.epoch + 1, owner, leaseUntil: until })
      return { granted: true, created: false, row: known.row() }
    },

    async extend(conversation, epoch, until) {
      const known = held.get(conversation)
      return known?.lease(known.epoch === epoch ? { leaseUntil: until } : {})
    },

    async append(conversation, epoch, plan) {
      const known = held.get(conversation)
      if (known === undefined) return { status: 'missing' }
      if (known.epoch !== epoch) return { status: 'stale', current: known.epoch }
      const seq = known.length + 1
      if (!known.add(plan, last + 1)) return { status: 'duplicate' }
      last += plan.entries.length
      for (const { digest, bytes } of plan.blobs) {
        // A copy; `slice` of a Node buffer would share its bytes.
        if (!blobs.has(digest)) blobs.set(digest, new Uint8Array(bytes))
      }
      sorted = undefined
      return { status: 'done', seq }
    },

    texts: rows,
    rows,

    text: async (conversation, kind, id) => held.get(conversation)?.find(kind, id),

    async find(filter, { after, limit, descending }) {
      const found = matching(filter).filter(({ position }) =>
        descending ? position < after : position > after,
      )
      const page = descending ? found.slice(-limit).reverse() : found.slice(0, limit)
      return page.map(({ row, ...place }) => ({ ...row, ...place }))
    },

    count: async (filter) => matching(filter).length,

    conversation: async (id) => held.get(id)?.row(),

    async conversations(listing) {
      const { from, before, meta, topLevel, after, limit } = listing
      const order = orderOf(listing)
      return [...held]
        .filter(([id]) => byCodePoint(id, from) >= 0)
        .filter(([id]) => before === undefined || byCodePoint(id, before) < 0)
        .filter(([, known]) => known.hasMeta(meta))
        .map(([, known]) => known.row())
        .filter((row) => !topLevel || row.parent === null)
        .filter((row) => after === undefined || order(row, after) > 0)
        .sort(order)
        .slice(0, limit)
    },

    async setMeta(conversation, change) {
      const known = held.get(conversation)
      known?.setMeta(change(known.row().meta))
      return known?.row()
    },

    gate: async (conversation, id) => held.get(conversation)?.gates().get(id),

    async gates({ conversation, open, after, limit }) {
      const start = after && held.get(after.conversation)?.opening(after.id)
      return chosen(conversation)
        .flatMap((known) =>
          [...known.gates().values()].map((gate) => ({ gate, position: known.opening(gate.id) })),
        )
        .filter(({ gate }) => !open || !CLOSED_STATES.includes(gate.state))
        .filter(({ position }) => start === undefined || position > start)
        .sort((a, b) => a.position - b.position)
        .slice(0, limit)
        .map(({ gate }) => gate)
    },

    async replaceGate(gate, expected, grant) {
      const gates = held.get(gate.conversation)?.gates()
      if (gates?.get(gate.id)?.digest !== expected) return false
      gates.set(gate.id, gate)
      if (grant !== undefined) grants.set(grant.id, grant)
      return true
    },

    ...memoryGrants(grants),

    blob: async (digest) => blobs.get(digest)?.slice(),

    async references(conversation, after, limit) {
      if (sorted === undefined || sorted.of !== conversation) {
        const digests = new Set(chosen(conversation).flatMap((known) => [...known.references()]))
        sorted = { of: conversation, digests: [...digests].sort() }
      }
      const { digests } = sorted
      const start = after === '' ? 0 : digests.findIndex((digest) => digest > after)
      return start === -1 ? [] : digests.slice(start, start + limit)
    },

    async fork(plan) {
      const { row, length, digest } = plan
      const there = held.get(row.id)
      if (there !== undefined) return there.row().origin === row.origin ? 'done' : 'exists'
      const origin = held.get(plan.from)
      const copied = origin?.entries().slice(0, length)
      if (copied === undefined || (copied.at(-1)?.row.digest ?? '') !== digest) return 'missing'
      const entries = [...copied.map((entry) => entry.row), ...plan.entries]
      held.set(row.id, origin?.forked(plan, entries, last + 1) as MemoryConversation)
      last += entries.length
      inherited.set(row.id, new Set(plan.inside.filter((id) => held.get(id)?.row().parent)))
      sorted = undefined
      return 'done'
    },

    inherited: async (fork) => [...(inherited.get(fork) ?? [])],

    isInherited: async (conversation, except) =>
      [...inherited].some(([fork, nested]) => fork !== except && nested.has(conversation)),

    async delete(conversation) {
      const known = held.get(conversation)
      if (known === undefined) return false
      held.delete(conversation)
      inherited.delete(conversation)
      forget(conversation)
      for (const grant of grants.values()) {
        if (grant.conversation === conversation) grants.delete(grant.id)
      }
      sorted = undefined
      const needed = new Set(chosen(undefined).flatMap((other) => [...other.references()]))
      for (const digest of known.references()) if (!needed.has(digest)) blobs.delete(digest)
      return true
    },

    close: async () => undefined,
  }
}

function orderOf({ orderBy, descending }: Pick<ConversationListing, 'orderBy' | 'descending'>) {
  type Place = Pick<ConversationRow, 'id' | 'createdAt' | 'updatedAt'>
  const byId = (a: Place, b: Place) => byCodePoint(a.id, b.id)
  const upwards =
    orderBy === 'id' ? byId : (a: Place, b: Place) => a[orderBy] - b[orderBy] || byId(a, b)
  return descending ? (a: Place, b: Place) => upwards(b, a) : upwards
}

/** The order of UTF-8, which databases keep: characters of two units come last. */
function byCodePoint(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
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
