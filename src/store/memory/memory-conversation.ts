import type { MetaColumn, MetaRow } from '../rows/conversation-meta.ts'
import { idColumn } from '../rows/entry-text.ts'
import type { AppendBatch, AppendPlan, ForkPlan, LeaseRow } from '../rows/store-driver.ts'
import type { ConversationRow, EntryRow, GateRow, GrantRow } from '../rows/store-rows.ts'
import { isFixed } from './fixed-entry.ts'

/** An entry and its place among the entries of all conversations. */
export interface PlacedEntry {
  readonly conversation: string
  readonly row: EntryRow
  readonly position: number
}

/** An append that waits, and the place of its first entry among the entries of all conversations. */
interface PlacedAppend extends Pick<AppendPlan, 'prepare' | 'seals'> {
  readonly position: number
}

/**
 * The tables of one conversation. Most entries in memory are never read, so an append that cannot change any
 * more waits: it is written out, hashed and sealed when the conversation is read.
 */
export class MemoryConversation {
  readonly #row: { -readonly [K in keyof ConversationRow]: ConversationRow[K] }
  #length = 0
  readonly #entries: PlacedEntry[] = []
  readonly #gates = new Map<string, GateRow>()
  readonly #references = new Set<string>()
  /** The `seq` of each entry that has an id. */
  readonly #ids = new Map<string, number>()
  /** The grants of all conversations. */
  readonly #grants: Map<string, GrantRow>
  #waiting: PlacedAppend[] = []
  #meta: readonly MetaColumn[] = []

  constructor(row: ConversationRow, grants: Map<string, GrantRow>) {
    this.#row = { ...row }
    this.#grants = grants
  }

  get epoch(): number {
    return this.#row.epoch
  }

  get length(): number {
    return this.#length
  }

  /** Changes the lease and gives it. No waiting append depends on it. */
  lease(change: Partial<Pick<ConversationRow, 'epoch' | 'owner' | 'leaseUntil'>>): LeaseRow {
    const { id, epoch, leaseUntil } = Object.assign(this.#row, change)
    return { id, epoch, leaseUntil }
  }

  /** Changes the metadata. No waiting append depends on it. */
  setMeta({ meta, columns }: MetaRow): void {
    this.#row.meta = meta
    this.#meta = columns
  }

  /** Whether all of these are in the metadata. */
  hasMeta(columns: readonly MetaColumn[]): boolean {
    return columns.every(({ name, value }) =>
      this.#meta.some((own) => own.name === name && own.value === value),
    )
  }

  row(): ConversationRow {
    this.#writeOut()
    return { ...this.#row }
  }

  entries(): readonly PlacedEntry[] {
    this.#writeOut()
    return this.#entries
  }

  gates(): Map<string, GateRow> {
    this.#writeOut()
    return this.#gates
  }

  references(): ReadonlySet<string> {
    this.#writeOut()
    return this.#references
  }

  find(kind: string, id: string): EntryRow | undefined {
    const seq = this.#ids.get(nameOf(kind, id))
    return seq === undefined ? undefined : this.entries()[seq - 1]?.row
  }

  /** The place of the entry that opened a gate. */
  opening(gate: string): number {
    const seq = this.#ids.get(nameOf('gate-opened', gate)) as number
    return (this.entries()[seq - 1] as PlacedEntry).position
  }

  /** A new conversation with these entries and the metadata of this one. */
  forked(plan: ForkPlan, entries: readonly EntryRow[], position: number): MemoryConversation {
    const { row, gates, references } = plan
    const fork = new MemoryConversation(row, this.#grants)
    fork.#meta = this.#meta
    fork.#row.meta = this.#row.meta
    for (const { kind, id, seq } of entries) if (id !== null) fork.#ids.set(nameOf(kind, id), seq)
    fork.#length = entries.length
    const { updatedAt, sealedSeq, seal } = row
    const batch = { entries, gates, grants: [], references, updatedAt, sealedSeq, seal }
    fork.#store(batch, position)
    return fork
  }

  /** Adds entries, or gives false if one has an id that is there. If this throws, nothing has changed. */
  add(plan: AppendPlan, position: number): boolean {
    const names = plan.entries.map((entry) => {
      const id = idColumn(entry)
      return id === null ? undefined : nameOf(entry.kind, id)
    })
    const isDuplicate = this.#hasAny(names.filter((name) => name !== undefined))
    if (this.#canWait(plan)) {
      if (isDuplicate) return false
      this.#waiting.push({ prepare: plan.prepare, seals: plan.seals, position })
    } else {
      this.#writeOut()
      // First, because a gate that cannot move is refused before a duplicate is.
      const batch = this.#prepare(plan)
      if (isDuplicate) return false
      this.#store(batch, position)
    }
    for (const name of names) {
      this.#length++
      if (name !== undefined) this.#ids.set(name, this.#length)
    }
    return true
  }

  /** A turn is sealed at once if its key is not stored: the key is known only while the lease is held. */
  #canWait({ entries, seals, grants }: AppendPlan): boolean {
    // The use of a grant is counted at once: another conversation may want the last one.
    if (grants.length > 0) return false
    return !(seals && this.#row.key === null) && entries.every(isFixed)
  }

  #writeOut(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    for (const next of waiting) this.#store(this.#prepare(next), next.position)
  }

  /** Whether an id is in the log, or comes twice. */
  #hasAny(names: readonly string[]): boolean {
    return names.some((name) => this.#ids.has(name)) || new Set(names).size < names.length
  }

  #prepare(plan: Pick<AppendPlan, 'prepare' | 'seals'>): AppendBatch {
    const row = this.#row
    const open = plan.seals ? this.#entries.slice(row.sealedSeq) : []
    const unsealed = open.map((entry) => entry.row.digest)
    const [gates, grants] = [this.#gates, this.#grants]
    return plan.prepare({ row, whole: () => row, gates, grants, unsealed })
  }

  #store(batch: AppendBatch, position: number): void {
    const row = this.#row
    for (const [at, entry] of batch.entries.entries()) {
      this.#entries.push({ conversation: row.id, row: entry, position: position + at })
    }
    for (const gate of batch.gates) this.#gates.set(gate.id, gate)
    for (const grant of batch.grants) this.#grants.set(grant.id, grant)
    for (const digest of batch.references) this.#references.add(digest)
    row.updatedAt = batch.updatedAt
    row.sealedSeq = batch.sealedSeq
    row.seal = batch.seal
    row.length = this.#entries.length
    if (batch.parent !== undefined) row.parent = batch.parent
    if (batch.agent !== undefined) row.agent = batch.agent
  }
}

const nameOf = (kind: string, id: string) => `${kind} ${id}`
