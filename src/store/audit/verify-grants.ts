import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Entry, Intent } from '../entry.ts'
import type { Gate } from '../gate.ts'
import type { Grant } from '../grant.ts'
import { columnText } from '../rows/entry-text.ts'
import { originalPlace } from '../rows/gate-row.ts'
import { covers, decodeGrant, isGivenBy } from '../rows/grant-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import type { ConversationRow } from '../rows/store-rows.ts'
import type { VerifyFault } from '../store.ts'
import type { FaultList } from './fault-list.ts'

const PAGE = 1000

/** A call that started, and its end. */
interface Started {
  readonly intent: Intent
  readonly time: number
  record?: JsonObject
}

/** What the log says of the calls that needed approval. */
export interface ApprovalTrail {
  readonly started: ReadonlyMap<string, Started>
  /** The records that name an approval without an intent that does. */
  readonly unfounded: readonly string[]
  see(entry: Entry): void
}

export function approvalTrail(): ApprovalTrail {
  const started = new Map<string, Started>()
  const unfounded: string[] = []
  return {
    started,
    unfounded,
    see({ kind, data, time }) {
      if (kind === 'intent' && data.approvedBy !== undefined) {
        started.set(data.id, { intent: data, time })
      }
      if (kind !== 'settlement') return
      const { id, approvedBy, supersedes } = data
      const name = typeof id === 'string' ? id : ''
      const call = started.get(name)
      if (call !== undefined) call.record = data
      else if (approvedBy !== undefined && supersedes === undefined) unfounded.push(name)
    },
  }
}

/**
 * Compares the grants that were given in a conversation with the decisions that gave them, and the calls that grants covered
 * with what these were at that time.
 */
export async function verifyGrants(
  driver: StoreDriver,
  { id: conversation, origin }: Pick<ConversationRow, 'id' | 'origin'>,
  { gates, trail }: { readonly gates: readonly Gate[]; readonly trail: ApprovalTrail },
  list: FaultList,
): Promise<void> {
  const given = new Map(gates.flatMap((gate) => givenBy(gate)))
  for (let after: string | undefined; ; ) {
    const where = after === undefined ? { conversation } : { conversation, after }
    const rows = await driver.grants({ ...where, limit: PAGE })
    for (const row of rows) {
      const gate = given.get(row.id)
      given.delete(row.id)
      const grant = readable(() => decodeGrant(row))
      if (grant === undefined) list.add(fault('edited', row.id, 'does not match its digest'))
      else if (gate === undefined) list.add(fault('inserted', row.id, 'was given by no decision'))
      else if (!isGivenBy(grant, gate)) {
        list.add(fault('edited', row.id, 'is not what the decision on its gate gave'))
      }
    }
    if (rows.length < PAGE) break
    after = rows.at(-1)?.id
  }
  // A fork repeats decisions of its origin; their grants stay there.
  if (origin === null) {
    for (const id of given.keys()) list.add(fault('deleted', id, 'is missing'))
  }
  await verifyCovered(driver, trail, list)
}

/** The grant of a gate lies beside the innermost one; copies of the gate repeat the decision. */
function givenBy(gate: Gate): readonly (readonly [string, Gate])[] {
  const grant = gate.decision?.grant
  const isHere = typeof grant?.id === 'string' && originalPlace(gate) === undefined
  return isHere ? [[columnText(grant.id), gate]] : []
}

async function verifyCovered(
  driver: StoreDriver,
  { started, unfounded }: ApprovalTrail,
  list: FaultList,
): Promise<void> {
  const unsaid = (call: string): VerifyFault => {
    const message = `The record of call \`${call}\` does not say what allowed it.`
    return { fault: 'edited', part: 'entry', id: call, message }
  }
  for (const call of unfounded) list.add(unsaid(call))
  const counts = new Map<string, number>()
  const known = new Map<string, Grant | undefined>()
  for (const [call, { intent, time, record }] of started) {
    const { approvedBy, covered } = intent
    const allowed = canonicalStringify(approvedBy)
    if (record !== undefined && canonicalStringify(record['approvedBy'] ?? null) !== allowed) {
      list.add(unsaid(call))
    }
    if (approvedBy === undefined || !('grant' in approvedBy)) continue
    const id = approvedBy.grant
    if (!known.has(id)) {
      const row = await driver.grant(columnText(id))
      known.set(id, row && readable(() => decodeGrant(row)))
    }
    // It was deleted with the conversation in which it was given.
    const grant = known.get(id)
    if (grant === undefined) continue
    counts.set(id, (counts.get(id) ?? 0) + 1)
    const why = misfit(grant, { intent, time, record })
    if (why !== undefined || covered === undefined) {
      list.add(
        fault(
          'edited',
          id,
          `does not fit the call \`${call}\`: ${why ?? 'nothing says why it ran'}`,
        ),
      )
    }
  }
  for (const [id, count] of counts) {
    const { used = 0, uses } = known.get(id) ?? {}
    if (used < count || (uses !== undefined && used > uses)) {
      list.add(
        fault('edited', id, `says that it covered ${used} calls, and there are ${count} here`),
      )
    }
  }
}

/** Why a grant did not cover a call when it started. */
function misfit(
  grant: Grant,
  {
    intent,
    time,
    record,
  }: Pick<Started, 'intent' | 'time'> & { readonly record: JsonObject | undefined },
): string | undefined {
  if (time < grant.createdAt) return 'it was given later'
  if (grant.expiresAt !== undefined && time >= grant.expiresAt) return 'it had expired'
  if (grant.revokedAt !== undefined && time > grant.revokedAt) return 'it was revoked'
  const { tool, covered } = intent
  if (covered === undefined) return undefined
  const { redacted } = record ?? {}
  // Without a record, or with parts of it removed, the effective arguments are unknown.
  const effective = record && redacted === undefined && (record['effectiveArgs'] ?? record['args'])
  const args = (effective ?? grant.args) as JsonObject
  return covers(grant, { tool, args, ...covered }) ? undefined : 'it is about something else'
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function fault(kind: VerifyFault['fault'], id: string, message: string): VerifyFault {
  return { fault: kind, part: 'grant', id, message: `Grant \`${id}\` ${message}.` }
}
