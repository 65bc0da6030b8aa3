import { canonicalStringify } from '../../core/json/canonical.ts'
import type { Entry, GateClosing } from '../entry.ts'
import type { Gate, GateRequest } from '../gate.ts'
import { columnText } from '../rows/entry-text.ts'
import { decodeGate, isClosed } from '../rows/gate-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import type { GateRow } from '../rows/store-rows.ts'
import type { VerifyFault } from '../store.ts'
import type { FaultList } from './fault-list.ts'

/** What the log says of each gate, by its column form. */
export interface GateTrail {
  readonly opened: ReadonlyMap<string, GateRequest>
  readonly closed: ReadonlyMap<string, GateClosing>
  see(entry: Entry): void
}

export function gateTrail(): GateTrail {
  const opened = new Map<string, GateRequest>()
  const closed = new Map<string, GateClosing>()
  return {
    opened,
    closed,
    see(entry) {
      if (entry.kind === 'gate-opened') opened.set(columnText(entry.data.id), entry.data)
      if (entry.kind === 'gate-closed') closed.set(columnText(entry.data.id), entry.data)
    },
  }
}

/** Compares the gates of a conversation with its log, which says how they began and ended. Gives those that can be read. */
export async function verifyGates(
  driver: StoreDriver,
  conversation: string,
  trail: GateTrail,
  list: FaultList,
): Promise<readonly Gate[]> {
  const rows = await driver.gates({ conversation, open: false, limit: trail.opened.size + 1000 })
  const there = new Set(rows.map(({ id }) => id))
  for (const id of trail.opened.keys()) {
    if (!there.has(id)) list.add(gateFault('deleted', id, 'is missing'))
  }
  return rows.flatMap((row) => verifyGate(row, trail, list) ?? [])
}

function verifyGate(row: GateRow, trail: GateTrail, list: FaultList): Gate | undefined {
  let gate: Gate
  try {
    gate = decodeGate(row)
  } catch {
    list.add(gateFault('edited', row.id, 'does not match its digest'))
    return undefined
  }
  const request = trail.opened.get(row.id)
  if (request === undefined) {
    list.add(gateFault('inserted', row.id, 'was never opened in the log'))
    return undefined
  }
  const asks = (Object.keys(request) as (keyof GateRequest)[]).every(
    (field) => canonicalStringify(gate[field]) === canonicalStringify(request[field]),
  )
  if (!asks || gate.state !== row.state || columnText(gate.id) !== row.id) {
    list.add(gateFault('edited', row.id, 'is not what the log says it was opened as'))
  }
  const closing = trail.closed.get(row.id)
  const closes =
    closing === undefined
      ? !isClosed(gate)
      : isReportedLate(gate, closing) ||
        (gate.state === closing.outcome &&
          canonicalStringify(gate.decision) === canonicalStringify(closing.decision))
  if (!closes) list.add(gateFault('edited', row.id, 'is not in the state that the log says'))
  return gate
}

/** The result of a call may come after its gate was given up; the next turn takes it. */
const isReportedLate = ({ kind, state }: Gate, { outcome }: GateClosing): boolean =>
  kind === 'result' && state === 'answered' && outcome !== 'consumed'

function gateFault(fault: VerifyFault['fault'], id: string, message: string): VerifyFault {
  return { fault, part: 'gate', id, message: `Gate \`${id}\` ${message}.` }
}
