import type { GateClosing, NewEntry } from '../entry.ts'
import type { Gate } from '../gate.ts'
import { columnText } from '../rows/entry-text.ts'
import { closedGate, decodeGate, encodeGate, openedGate } from '../rows/gate-row.ts'
import { type PlannedEntry, redactPlanned } from '../rows/planned-entry.ts'
import type { Redact } from '../rows/redaction.ts'
import type { GateRow } from '../rows/store-rows.ts'
import { notFound } from '../store-errors.ts'

/** The gates that an append closes before it opens them, if it opens them at all. */
export function gatesToRead(entries: readonly NewEntry[]): readonly string[] {
  const opened = new Set<string>()
  const closed: string[] = []
  for (const entry of entries) {
    if (entry.kind === 'gate-opened') opened.add(entry.data.id)
    else if (entry.kind === 'gate-closed' && !opened.has(entry.data.id)) closed.push(entry.data.id)
  }
  return closed.map(columnText)
}

/** The append that moves gates. An imported one may close gates that were not decided in this store. */
export interface GateOrigin {
  readonly conversation: string
  readonly isImported: boolean
}

/** What the entries of one append do to gates, one after the other. */
export class GateMoves {
  /** The gates as they are afterwards. */
  readonly moved = new Map<string, GateRow>()
  readonly #origin: GateOrigin
  readonly #redact: Redact | undefined
  readonly #known: ReadonlyMap<string, GateRow>

  constructor(origin: GateOrigin, redact: Redact | undefined, known: ReadonlyMap<string, GateRow>) {
    this.#origin = origin
    this.#redact = redact
    this.#known = known
  }

  /** Moves the gate of an entry; one that closes it is completed with the decision that was used. */
  apply(planned: PlannedEntry): PlannedEntry {
    const { entry, time: now } = planned
    if (entry.kind === 'gate-closed') return this.#close(planned, entry)
    if (entry.kind === 'gate-opened') {
      const { conversation } = this.#origin
      this.#put(openedGate(entry.data, { conversation, turnId: entry.turnId, now }))
    }
    return planned
  }

  #close(planned: PlannedEntry, entry: NewEntry & { kind: 'gate-closed' }): PlannedEntry {
    const { id, outcome, late } = entry.data
    const row = this.moved.get(columnText(id)) ?? this.#known.get(columnText(id))
    if (row === undefined) throw notFound('gate', id)
    const gate = decodeGate(row)
    const { decision } = this.#origin.isImported
      ? entry.data
      : closedGate(gate, entry.data, planned.time)
    const data = { id, outcome, ...(decision && { decision }), ...(late && { late }) }
    const done = redactPlanned({ ...planned, entry: { ...entry, data } }, this.#redact)
    const { decision: kept } = done.entry.data as GateClosing
    const { decision: _, ...asked } = gate
    this.#put({ ...asked, state: outcome, ...(kept && { decision: kept }) })
    return done
  }

  #put(gate: Gate): void {
    this.moved.set(columnText(gate.id), encodeGate(gate))
  }
}
