import type { Clock } from '../../core/clock.ts'
import type { EntryOf } from '../entry.ts'
import type { Gate, NewGateDecision } from '../gate.ts'
import type { GivenGrant } from '../grant.ts'
import { columnText, decodeEntry } from '../rows/entry-text.ts'
import { decidedGate, decodeGate, encodeGate, gateAt, originalPlace } from '../rows/gate-row.ts'
import { encodeGrant, grantGivenBy } from '../rows/grant-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { conversationId, memberOf, pageSize, textColumn } from '../rows/store-input.ts'
import type { GateRow } from '../rows/store-rows.ts'
import type { GatePage, Store } from '../store.ts'
import { gateState, invalidInput, notFound } from '../store-errors.ts'
import { mayBeLate } from './late-result.ts'
import { checkGrant, isGrantFault } from './new-grant.ts'
import { gatesOnce, sameGates } from './same-gates.ts'

const MAX_GATES = 1000
/** States only move forward, so a race can be lost once. More losses mean an inconsistent database. */
const MAX_TRIES = 5
const KEEPS_CHANGING = 'other processes keep changing it. Read it again'

/** The part of a store that shows gates and takes decisions. */
export function createGates(
  driver: StoreDriver,
  clock: Clock,
): Pick<Store, 'gate' | 'openGates' | 'decideGate'> {
  return {
    async gate(conversation, id) {
      const row = await driver.gate(conversationId(conversation), textColumn(id, 'id'))
      return row && gateAt(decodeGate(row), clock.now())
    },

    async openGates(conversation, page = {}) {
      const { after, limit = MAX_GATES } = memberOf(page, 'options')
      const size = pageSize(limit)
      const where = conversation !== undefined && { conversation: conversationId(conversation) }
      const query = { ...where, open: true, limit: size }
      const start = after === undefined ? undefined : await lastSeen(driver, after, conversation)
      const found = where
        ? (await driver.gates({ ...query, ...(start && { after: start }) })).map(decodeGate)
        : await gatesOnce(driver, query, start)
      return found.map((gate) => gateAt(gate, clock.now()))
    },

    async decideGate(conversation, id, given) {
      const row = await driver.gate(conversationId(conversation), textColumn(id, 'id'))
      if (row === undefined) throw notFound('gate', id)
      const gate = gateAt(decodeGate(row), clock.now())
      const isLate = await mayBeLate(gate, async (kind, callId) => {
        const entry = await driver.text(conversation, kind, columnText(callId))
        return entry && (decodeEntry(conversation, entry) as EntryOf<typeof kind>)
      })
      decidedGate(gate, given, clock.now(), isLate)
      if (isLate) return decideOne(driver, row, given, clock, isLate)
      // The innermost one first: it is what counts if two people decide at the same time.
      const [innermost = row, ...copies] = await sameGates(driver, row)
      const grant = await givenGrant(driver, innermost, given, { conversation, now: clock.now() })
      const decision = grant === undefined ? given : { ...given, grant }
      const decided = [await decideOne(driver, innermost, decision, clock)]
      for (const copy of copies) {
        if (copy.state === 'pending') decided.push(await decideOne(driver, copy, decision, clock))
      }
      const isAsked = (one: Gate) => one.conversation === conversation && one.id === id
      return decided.find(isAsked) as Gate
    },
  }
}

/** The gate after which a page begins. It must be known: a page that is empty by mistake would hide open gates. */
async function lastSeen(
  driver: StoreDriver,
  after: GatePage['after'],
  conversation: string | undefined,
): Promise<GateRow> {
  const given: unknown = typeof after === 'string' ? { conversation, id: after } : after
  const isNamed = typeof given === 'object' && given !== null
  const place = (isNamed ? given : {}) as { readonly conversation?: unknown; readonly id?: unknown }
  if (typeof place.id !== 'string' || typeof place.conversation !== 'string') {
    throw invalidInput(
      'after',
      'must be the last gate of the page before, or its id if a conversation is given',
    )
  }
  const name = conversationId(place.conversation, 'after.conversation')
  const row = await driver.gate(name, columnText(place.id))
  if (row === undefined) throw notFound('gate', place.id)
  return row
}

/** The grant of a decision, checked before anything is decided. */
async function givenGrant(
  driver: StoreDriver,
  row: GateRow,
  decision: NewGateDecision,
  place: { readonly conversation: string; readonly now: number },
): Promise<GivenGrant | undefined> {
  // Own members only: a client's `__proto__` must not grant.
  if (!Object.hasOwn(decision, 'grant') || decision.grant === undefined) return undefined
  const opening = await driver.text(row.conversation, 'gate-opened', row.id)
  const { redacted = [] } = opening ? decodeEntry(row.conversation, opening) : {}
  const grant = checkGrant(decodeGate(row), decision, { ...place, redacted })
  if (isGrantFault(grant)) throw invalidInput(`decision.${grant.path}`, grant.rule)
  return grant
}

async function decideOne(
  driver: StoreDriver,
  given: GateRow,
  decision: NewGateDecision,
  clock: Clock,
  isLate = false,
): Promise<Gate> {
  let row = given
  for (let tries = 1; ; tries++) {
    const gate = decodeGate(row)
    const decided = decidedGate(gate, decision, clock.now(), isLate)
    // A copy gives no grant: where the original is in another store, so is the grant.
    const grant = originalPlace(decided) === undefined ? grantGivenBy(decided) : undefined
    const added = grant && encodeGrant(grant)
    if (await driver.replaceGate(encodeGate(decided), row.digest, added)) return decided
    if (tries === MAX_TRIES) throw gateState(gate.id, gate.state, decided.state, KEEPS_CHANGING)
    // After a lost race the gate is read again. It is decided then, and `decidedGate` throws.
    const again = await driver.gate(row.conversation, row.id)
    if (again === undefined) throw notFound('gate', gate.id)
    row = again
  }
}
