import { sha256Hex } from '#hash'
import { canonicalStringify } from '../core/canonical.ts'
import type { GateClosing } from './entry.ts'
import { columnText } from './entry-text.ts'
import {
  DEFAULT_GATE_MS,
  type Gate,
  type GateDecision,
  type GateRequest,
  type GateState,
  type NewGateDecision,
} from './gate.ts'
import { gateState, invalidInput, storeCorrupt } from './store-errors.ts'
import type { GateRow } from './store-rows.ts'

/** States that nothing leads out of. */
export const CLOSED_STATES: readonly string[] = ['consumed', 'expired', 'abandoned']

const VERDICTS: readonly string[] = ['approved', 'denied', 'edited']

/** A gate as the store keeps it. */
export function encodeGate(gate: Gate): GateRow {
  const body = canonicalStringify(gate)
  const { conversation, id, state } = gate
  return { conversation, id: columnText(id), state, digest: sha256Hex(body), body }
}

/** Reads a stored gate; `E_STORE_CORRUPT` when it is not what was written. */
export function decodeGate(row: GateRow): Gate {
  if (sha256Hex(row.body) !== row.digest) {
    throw storeCorrupt(`Gate \`${row.id}\``, 'its digest does not match')
  }
  return JSON.parse(row.body) as Gate
}

/** A gate as it stands at `now`: one whose time is over counts as expired before anybody closes it. */
export function gateAt(gate: Gate, now: number): Gate {
  return isClosed(gate) || now < gate.expiresAt ? gate : { ...gate, state: 'expired' }
}

export function isClosed(gate: Gate): boolean {
  return CLOSED_STATES.includes(gate.state)
}

/** A new gate, waiting. */
export function openedGate(
  request: GateRequest,
  place: { readonly conversation: string; readonly turnId: string; readonly now: number },
): Gate {
  const { now, ...where } = place
  const expiresAt = request.expiresAt ?? now + DEFAULT_GATE_MS
  return { ...request, ...where, openedAt: now, expiresAt, state: 'pending' }
}

const ALREADY =
  'it is decided already; `recover`, or `resume` without a decision about it, goes on from there'

/** Why a gate that does not wait any more cannot be decided, and what to do instead. */
const WHY_DECIDED: Readonly<Record<Exclude<GateState, 'pending'>, string>> = {
  approved: ALREADY,
  denied: ALREADY,
  edited: ALREADY,
  consumed: 'its decision was used already, and is used once',
  expired: 'its time is over; the next turn may ask again',
  abandoned: 'the conversation went on without it; the next turn may ask again',
}

/** A pending gate with its decision; `E_GATE_STATE` when it does not wait for this one any more. */
export function decidedGate(gate: Gate, decision: NewGateDecision, now: number): Gate {
  const { verdict, decidedBy, args, comment, digest } = decision
  if (!VERDICTS.includes(verdict)) {
    throw invalidInput('decision.verdict', `must be one of ${VERDICTS.join(', ')}`)
  }
  if (typeof decidedBy !== 'string' || decidedBy === '') {
    throw invalidInput('decision.decidedBy', 'must say who decided')
  }
  if ((verdict === 'edited') !== (args !== undefined)) {
    throw invalidInput('decision.args', 'goes with the verdict `edited`, and with no other')
  }
  const { state } = gateAt(gate, now)
  if (state !== 'pending') {
    throw gateState(gate.id, state, verdict, WHY_DECIDED[state])
  }
  if (digest !== undefined && digest !== gate.digest) {
    throw gateState(gate.id, state, verdict, 'the decision is about another tool or arguments')
  }
  const made: GateDecision = {
    verdict,
    decidedBy,
    decidedAt: now,
    ...(args && { args }),
    ...(comment !== undefined && { comment }),
  }
  return { ...gate, state: verdict, decision: made }
}

/** A gate left for good; `E_GATE_STATE` when it cannot be left that way. */
export function closedGate(gate: Gate, closing: GateClosing, now: number): Gate {
  const { outcome } = closing
  const { state } = gateAt(gate, now)
  const refuse = (why: string) => gateState(gate.id, state, outcome, why)
  if (isClosed(gate)) throw refuse('it is closed already')
  if (outcome === 'consumed' && !VERDICTS.includes(state)) {
    throw refuse('only a decision that is not too old can be used, and only once')
  }
  if (outcome === 'expired' && state !== 'expired') throw refuse('its time is not over')
  return { ...gate, state: outcome }
}
