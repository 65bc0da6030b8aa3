import type { LazySeal } from './lazy-seal.ts'
import type { ConversationRow, EntryRow, GateRow, HeldRow, MemoryState } from './store-driver.ts'

/** A conversation as it was when somebody asked; its seal is computed when it is read. */
export class MemoryConversation implements ConversationRow {
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
export class HeldConversation implements MemoryState {
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

/** Whether an id is there already, in the log or twice among the new entries. */
export function hasDuplicate(known: HeldConversation, entries: readonly EntryRow[]): boolean {
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
