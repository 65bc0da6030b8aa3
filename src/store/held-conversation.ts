import type { NewEntry } from './entry.ts'
import { idColumn } from './entry-text.ts'
import type { LazySeal } from './lazy-seal.ts'
import type { MemoryState } from './memory-append.ts'
import { type AppendStamp, LogRange, MemoryLog } from './memory-log.ts'
import type { MemoryRow } from './memory-row.ts'
import type { ConversationRow, GateRow } from './store-rows.ts'

/** A conversation's row, live or as it was when somebody asked; its seal is computed when it is read. */
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
  readonly log = new MemoryLog()
  readonly gates = new Map<string, GateRow>()
  /** Some of them more than once. */
  readonly references: string[] = []
  /** The kinds of which there is one for each call have tables of their own: no call looks for them. */
  readonly #intents = new Map<string, number>()
  readonly #settlements = new Map<string, number>()
  readonly #others = new Map<string, Map<string, number>>()

  constructor(row: MemoryConversation) {
    this.row = row
  }

  get sealing(): LazySeal | undefined {
    return this.row.sealing
  }

  unsealed(): LogRange {
    return new LogRange(this.log, this.row.sealedSeq, this.log.length)
  }

  /** The entry of a kind with an id. */
  find(kind: string, id: string): MemoryRow | undefined {
    const index = this.#ofKind(kind)?.get(id)
    return index === undefined ? undefined : this.log.at(index)
  }

  has(kind: string, id: string): boolean {
    return this.#ofKind(kind)?.has(id) === true
  }

  /** Its gates, each with the place in the store of the entry that opened it. */
  gatesAt(): { readonly gate: GateRow; readonly position: number }[] {
    const opened = this.#ofKind('gate-opened')
    return [...this.gates].map(([id, gate]) => {
      return { gate, position: this.log.position(opened?.get(id) as number) }
    })
  }

  /** Takes in an entry that never changes, as it is. */
  keep(entry: NewEntry, stamp: AppendStamp): void {
    this.#index(entry.kind, idColumn(entry))
    this.log.keep(entry, stamp)
  }

  add(entry: MemoryRow, stamp: AppendStamp): void {
    this.#index(entry.kind, entry.id)
    this.log.add(entry, stamp)
    if (entry.sealing !== undefined) {
      this.row.sealing = entry.sealing
      this.row.sealedSeq = entry.seq
    }
  }

  #ofKind(kind: string): Map<string, number> | undefined {
    if (kind === 'settlement') return this.#settlements
    return kind === 'intent' ? this.#intents : this.#others.get(kind)
  }

  /** Notes where the next entry of the log will stand. */
  #index(kind: string, id: string | null): void {
    if (id === null) return
    let ofKind = this.#ofKind(kind)
    if (ofKind === undefined) this.#others.set(kind, (ofKind = new Map<string, number>()))
    ofKind.set(id, this.log.length)
  }
}

/** Whether an id is there already, in the log or twice among the new entries. */
export function hasDuplicate<E extends { readonly kind: string }>(
  known: HeldConversation,
  entries: readonly E[],
  idOf: (entry: E) => string | null,
): boolean {
  // Each asked for once: a provider may give ids of megabytes, which are hashed.
  const ids = entries.map(idOf)
  for (let at = 0; at < entries.length; at++) {
    const id = ids[at] as string | null
    if (id !== null && known.has((entries[at] as E).kind, id)) return true
  }
  return entries.length <= FEW ? hasTwins(entries, ids) : hasTwinsAmongMany(entries, ids)
}

/** Up to here looking at every pair is faster than making a table. */
const FEW = 24

type Kinds = readonly { readonly kind: string }[]
type Ids = readonly (string | null)[]

function hasTwins(entries: Kinds, ids: Ids): boolean {
  for (let at = 1; at < entries.length; at++) {
    const id = ids[at]
    if (id === null) continue
    for (let before = 0; before < at; before++) {
      if (ids[before] === id && entries[before]?.kind === entries[at]?.kind) return true
    }
  }
  return false
}

function hasTwinsAmongMany(entries: Kinds, ids: Ids): boolean {
  const names = entries.flatMap(({ kind }, at) => (ids[at] === null ? [] : [`${kind} ${ids[at]}`]))
  return new Set(names).size < names.length
}
