import { IMPORTED } from '../archive/import-conversation.ts'
import type { ForkOptions } from '../branches.ts'
import { type Entry, type Note, TAINT } from '../entry.ts'
import { invalidPosition, placeOf } from '../position.ts'
import { referencesOf } from '../rows/entry-references.ts'
import { columnText, decodeEntry } from '../rows/entry-text.ts'
import { decodeGate, encodeGate } from '../rows/gate-row.ts'
import { SealTrail } from '../rows/seal-trail.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { memberOf } from '../rows/store-input.ts'
import type { ConversationRow, EntryText, GateRow } from '../rows/store-rows.ts'
import { invalidInput, notFound, storeCorrupt } from '../store-errors.ts'
import { ForkCut } from './fork-cut.ts'
import { conversationInside } from './nested-conversations.ts'

const PAGE = 500

/** What a fork takes over from its origin. */
export interface ForkedPart {
  readonly length: number
  /** The digest of the last entry; empty without entries. */
  readonly digest: string
  /** Digests and seals, for the first seal of the fork. */
  readonly sealed: readonly string[]
  /** The last seal; empty without seals. */
  readonly seal: string
  readonly references: readonly string[]
  /** Every conversation in which a turn inside one of its calls may have run. */
  readonly inside: readonly string[]
  /** Its gates, all closed. */
  readonly gates: ReadonlySet<string>
  /** The last turn; undefined if nothing is taken over. */
  readonly lastTurn: string | undefined
  /** Whether that turn has no end there. */
  readonly isOpen: boolean
}

/** Reads a log up to where it is to be forked, and cuts it back to where every call is settled. */
export async function readFork(
  driver: StoreDriver,
  row: ConversationRow,
  after: ForkOptions['after'],
  key: Uint8Array | undefined,
): Promise<ForkedPart> {
  const isBehind = await limitOf(driver, row, after)
  const trail = new SealTrail(row, key)
  const cut = new ForkCut()
  const part = new PartReader()
  const requireSeal = (wrong: unknown) => {
    if (wrong === undefined) return
    throw storeCorrupt(`Conversation \`${row.id}\``, 'a seal does not fit its entries')
  }
  requireSeal(trail.begin())
  for (let next = 1; ; next += PAGE) {
    const rows = await driver.texts(row.id, next, PAGE)
    for (const stored of rows) {
      const entry = decodeEntry(row.id, stored)
      if (cut.isCleanBefore(entry)) part.keep()
      if (isBehind(entry)) return part
      requireSeal(trail.see({ ...stored, kind: entry.kind }, stored.digest))
      cut.take(entry)
      part.take(entry, stored)
    }
    if (rows.length < PAGE) break
  }
  if (cut.isCleanBefore(undefined)) part.keep()
  return part
}

/** Tells which entries come after the point that was asked for. */
async function limitOf(
  driver: StoreDriver,
  { id, length }: ConversationRow,
  after: ForkOptions['after'],
): Promise<(entry: Entry) => boolean> {
  if (after === undefined) return () => false
  const given = memberOf(after, 'after') as { readonly turnId?: unknown; position?: unknown }
  const { turnId, position } = given
  if ((turnId === undefined) === (position === undefined)) {
    throw invalidInput('after', 'must be `{ turnId }` or `{ position }`')
  }
  if (turnId === undefined) {
    const { seq } = placeOf(position)
    if (seq > length) throw invalidPosition(position, 'is after the end of the conversation')
    return (entry) => entry.seq > seq
  }
  if (typeof turnId !== 'string') throw invalidInput('after.turnId', 'must be a string')
  const found = await driver.text(id, 'turn-start', columnText(turnId))
  if (found === undefined) throw notFound('turn', turnId)
  const start = decodeEntry(id, found)
  const first = firstOf(start)
  const isOther = (entry: Entry) => entry.kind === 'turn-start' && firstOf(entry) !== first
  return (entry) => entry.seq > start.seq && isOther(entry)
}

/** The first turn of the chain of a turn. */
const firstOf = (start: Entry): string =>
  (start.kind === 'turn-start' ? start.data.continues : undefined) ?? start.turnId

/** Collects what a fork takes over. Entries after the last clean cut wait, and are left out in the end. */
class PartReader implements ForkedPart {
  length = 0
  digest = ''
  seal = ''
  lastTurn: string | undefined
  isOpen = false
  readonly sealed: string[] = []
  readonly #references = new Set<string>()
  readonly #inside = new Set<string>()
  readonly gates = new Set<string>()
  #waiting: { readonly entry: Entry; readonly row: EntryText }[] = []

  get references(): readonly string[] {
    return [...this.#references]
  }

  get inside(): readonly string[] {
    return [...this.#inside]
  }

  take(entry: Entry, row: EntryText): void {
    this.#waiting.push({ entry, row })
  }

  /** The log may be cut after all that was taken. */
  keep(): void {
    for (const { entry, row } of this.#waiting) this.#keep(entry, row)
    this.#waiting = []
  }

  #keep(entry: Entry, { seq, digest, seal }: EntryText): void {
    this.length = seq
    this.digest = digest
    this.sealed.push(digest)
    for (const each of referencesOf(entry)) this.#references.add(each)
    if (entry.kind === 'intent') this.#inside.add(nameInside(entry.data.idempotencyKey))
    if (entry.kind === 'gate-opened') this.gates.add(columnText(entry.data.id))
    this.lastTurn = entry.turnId
    if (entry.kind === 'turn-start') this.isOpen = true
    if (entry.kind !== 'turn-end') return
    this.isOpen = false
    this.seal = seal ?? ''
    this.sealed.push(this.seal)
  }
}

/** A key begins with the name of the conversation in which its call ran. */
const nameInside = (key: string): string =>
  conversationInside(key.slice(0, Math.max(0, key.lastIndexOf('/'))), key)

/** The note that an import leaves at its end, where a fork would lose it: it is about everything that was imported. */
export async function importedTaint(
  driver: StoreDriver,
  from: ConversationRow,
  { length }: ForkedPart,
): Promise<Note | undefined> {
  for (let after = length; after < from.length; ) {
    const page = { after, limit: PAGE, descending: false }
    const rows = await driver.find({ conversation: from.id, kind: 'note' }, page)
    for (const row of rows) {
      const entry = decodeEntry(from.id, row)
      if (entry.kind === 'note' && isImportNote(entry.data)) return entry.data
      after = row.seq
    }
    if (rows.length < PAGE) break
  }
  return undefined
}

const isImportNote = ({ code, message }: Note) => code === TAINT && message === IMPORTED

/** The gates of a fork: those of its origin under its own name. */
export async function forkedGates(
  driver: StoreDriver,
  from: string,
  { gates }: ForkedPart,
  to: string,
): Promise<readonly GateRow[]> {
  if (gates.size === 0) return []
  // In the order in which they were opened: those of the fork come first.
  const rows = await driver.gates({ conversation: from, open: false, limit: gates.size })
  const copies = rows
    .filter(({ id }) => gates.has(id))
    .map((row) => encodeGate({ ...decodeGate(row), conversation: to }))
  if (copies.length < gates.size) {
    throw storeCorrupt(`Conversation \`${from}\``, 'a gate of its log is missing')
  }
  return copies
}
