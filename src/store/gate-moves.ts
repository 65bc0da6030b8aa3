import type { AppendRequest } from './append-request.ts'
import type { GateClosing, NewEntry } from './entry.ts'
import { columnText } from './entry-text.ts'
import type { Gate } from './gate.ts'
import { closedGate, decodeGate, encodeGate, openedGate } from './gate-row.ts'
import { type PlannedEntry, redactPlanned } from './planned-entry.ts'
import type { Redact } from './redaction.ts'
import { notFound } from './store-errors.ts'
import type { GateRow } from './store-rows.ts'

/** The gates that an append closes without having opened them. */
export function gatesToRead(entries: readonly NewEntry[]): readonly string[] {
  const opened = new Set<string>()
  const closed: string[] = []
  for (const entry of entries) {
    if (entry.kind === 'gate-opened') opened.add(entry.data.id)
    else if (entry.kind === 'gate-closed') closed.push(entry.data.id)
  }
  return closed.filter((id) => !opened.has(id)).map(columnText)
}

/** What the entries of one append do to gates, one after the other. */
export class GateMoves {
  /** The gates as they are afterwards. */
  readonly moved = new Map<string, GateRow>()
  readonly #request: AppendRequest
  readonly #redact: Redact | undefined
  readonly #known: ReadonlyMap<string, GateRow>

  constructor(
    request: AppendRequest,
    redact: Redact | undefined,
    known: ReadonlyMap<string, GateRow>,
  ) {
    this.#request = request
    this.#redact = redact
    this.#known = known
  }

  /** Moves the gate of an entry; one that closes it is completed with the decision that was used. */
  apply(planned: PlannedEntry): PlannedEntry {
    const { entry, time: now } = planned
    if (entry.kind === 'gate-closed') return this.#close(planned, entry)
    if (entry.kind === 'gate-opened') {
      const { conversation } = this.#request
      this.#put(openedGate(entry.data, { conversation, turnId: entry.turnId, now }))
    }
    return planned
  }

  #close(planned: PlannedEntry, entry: NewEntry & { kind: 'gate-closed' }): PlannedEntry {
    const { id, outcome } = entry.data
    const row = this.moved.get(columnText(id)) ?? this.#known.get(columnText(id))
    if (row === undefined) throw notFound('gate', id)
    const gate = decodeGate(row)
    const isImported = this.#request.imported !== undefined
    const { decision } = isImported ? entry.data : closedGate(gate, entry.data, planned.time)
    const data = { id, outcome, ...(decision && { decision }) }
    const done = redactPlanned({ ...planned, entry: { ...entry, data } }, this.#redact)
    const { decision: kept } = done.entry.data as GateClosing
    this.#put({ ...gate, state: outcome, ...(kept && { decision: kept }) })
    return done
  }

  #put(gate: Gate): void {
    this.moved.set(columnText(gate.id), encodeGate(gate))
  }
}
