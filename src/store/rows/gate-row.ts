import { sha256Hex } from '#hash'
import { canonicalStringify } from '../../core/json/canonical.ts'
import { pageUrl } from '../../core/page-url.ts'
import type { GateClosing } from '../entry.ts'
import {
  DEFAULT_GATE_MS,
  type Gate,
  type GateDecision,
  type GateRequest,
  type GateState,
  type NewGateDecision,
} from '../gate.ts'
import { gateWhy } from '../gate-why.ts'
import type { GivenGrant } from '../grant.ts'
import { gateState, invalidInput, storeCorrupt } from '../store-errors.ts'
import { columnText } from './entry-text.ts'
import { restoredGate, type StoredGate, storedGate } from './gate-form.ts'
import type { GateRow } from './store-rows.ts'

/** States that never change again. */
export const CLOSED_STATES: readonly string[] = ['consumed', 'expired', 'abandoned']

const VERDICTS: readonly string[] = ['approved', 'denied', 'edited', 'answered']

/** A gate as the store keeps it. */
export function encodeGate(gate: Gate): GateRow {
  const body = canonicalStringify(storedGate(gate))
  const { conversation, id, state } = gate
  return { conversation, id: columnText(id), state, digest: sha256Hex(body), body }
}

/** Reads a stored gate; `E_STORE_CORRUPT` when it is not what was written. */
export function decodeGate(row: GateRow): Gate {
  if (sha256Hex(row.body) !== row.digest) {
    throw storeCorrupt(`Gate \`${row.id}\``, 'its digest does not match')
  }
  const gate = restoredGate<Gate>(JSON.parse(row.body) as StoredGate)
  return { ...gate, ...shownParts(gate) }
}

/** What people read of a gate. A provider's link is shown if it is one that we would take from a tool. */
function shownParts(gate: GateRequest): { readonly why: string; readonly url?: string } {
  const url = gate.url ?? pageUrl(gate.context?.['url'])
  return { why: gateWhy(gate), ...(url !== undefined && { url }) }
}

/** The gate at `now`: it is expired if its time is over, also before an entry closes it. */
export function gateAt(gate: Gate, now: number): Gate {
  if (isClosed(gate) || now < gate.expiresAt || isReported(gate)) return gate
  return { ...gate, state: 'expired' }
}

/** Whether it says how an external call ended: that stays true, however late it is used. */
const isReported = ({ kind, state }: Gate): boolean => kind === 'result' && state !== 'pending'

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
  return {
    ...request,
    ...shownParts(request),
    ...where,
    openedAt: now,
    expiresAt,
    state: 'pending',
  }
}

const ALREADY =
  'it is already decided. Call `recover`, or `resume` without a decision on it, to continue'

/** Why a gate that no longer waits cannot be decided, and what to do instead. */
const WHY_DECIDED: Readonly<Record<Exclude<GateState, 'pending'>, string>> = {
  approved: ALREADY,
  denied: ALREADY,
  edited: ALREADY,
  answered: ALREADY,
  consumed: 'its decision was used already, and is used once',
  expired: 'its time is over; the next turn may ask again',
  abandoned: 'the conversation continued without it; the next turn may ask again',
}

/** The provider runs such a call with its own arguments: an edit would approve what was not approved. */
export const EDIT_REFUSED =
  'cannot be edited: the provider runs this call. Approve or deny it as it is'

/**
 * A pending gate with its decision; `E_GATE_STATE` if it no longer waits for this decision. With `isLate`, a gate that was
 * given up takes the result of its call all the same.
 */
export function decidedGate(
  gate: Gate,
  decision: NewGateDecision,
  now: number,
  isLate = false,
): Gate {
  // Own members only: a client's `__proto__` must not decide.
  const own: NewGateDecision & { __proto__: null } = { __proto__: null, ...decision }
  const { verdict, decidedBy, args, value, error, comment, grant, digest } = own
  if (!VERDICTS.includes(verdict)) {
    throw invalidInput('decision.verdict', `must be one of ${VERDICTS.join(', ')}`)
  }
  if (typeof decidedBy !== 'string' || decidedBy === '') {
    throw invalidInput('decision.decidedBy', 'must say who decided')
  }
  if ((verdict === 'edited') !== (args !== undefined)) {
    throw invalidInput('decision.args', 'goes with the verdict `edited`, and with no other')
  }
  if (args !== undefined && gate.from === 'provider') {
    throw invalidInput('decision.args', EDIT_REFUSED)
  }
  const isQuestion = gate.from === 'runner' && gate.kind !== 'approval'
  if (verdict !== 'denied' && (verdict === 'answered') !== isQuestion) {
    const rule = isQuestion ? 'must be `answered` or `denied`' : 'must be a verdict on a call'
    throw invalidInput('decision.verdict', `${rule}, for this gate`)
  }
  checkAnswer(gate, own)
  const { state } = gateAt(gate, now)
  const isTaken = isLate && verdict === 'answered' && isGivenUp(state)
  if (state !== 'pending' && !isTaken) {
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
    ...(value !== undefined && { value }),
    ...(error !== undefined && { error }),
    ...(comment !== undefined && { comment }),
    // `decideGate` has checked and completed it.
    ...(grant !== undefined && { grant: grant as GivenGrant }),
  }
  return { ...gate, state: verdict, decision: made }
}

/** Whether a gate expired without a decision, or the conversation continued without it. */
export const isGivenUp = (state: GateState): boolean => state === 'expired' || state === 'abandoned'

/** An answer has what its gate asks for, and nothing else. */
function checkAnswer({ kind }: Gate, { verdict, value, error }: NewGateDecision): void {
  const isResult = verdict === 'answered' && kind === 'result'
  if (error !== undefined && (typeof error !== 'string' || !isResult || value !== undefined)) {
    const rule = 'is a text, and goes without a value with an answer to a gate of kind `result`'
    throw invalidInput('decision.error', rule)
  }
  const needsValue = isResult ? error === undefined : verdict === 'answered' && kind === 'input'
  if (needsValue !== (value !== undefined)) {
    throw invalidInput(
      'decision.value',
      'goes with an answer to a gate of kind `input` or `result`',
    )
  }
}

/** A closed gate; `E_GATE_STATE` if it cannot be closed that way. */
export function closedGate(gate: Gate, closing: GateClosing, now: number): Gate {
  const { outcome } = closing
  const { state } = gateAt(gate, now)
  const refuse = (why: string) => gateState(gate.id, state, outcome, why)
  if (isClosed(gate)) throw refuse('it is closed already')
  if (outcome === 'consumed' && !VERDICTS.includes(state)) {
    throw refuse('only a decision that is not too old can be used, and only once')
  }
  if (outcome === 'expired' && state !== 'expired') throw refuse('its time is not over')
  if (outcome === 'abandoned' && isReported({ ...gate, state }))
    throw refuse('its call was reported')
  const { decision } = gate
  return { ...gate, state: outcome, ...(decision && { decision: usedDecision(gate, decision) }) }
}

/** The record of a call has its result: a copy in the gate would outlive a redaction. */
export function usedDecision({ kind }: Pick<Gate, 'kind'>, decision: GateDecision): GateDecision {
  if (kind !== 'result') return decision
  const { value: _, ...used } = decision
  return used
}

/** Where a gate is. */
export interface GatePlace {
  readonly conversation: string
  readonly gate: string
}

/**
 * The place of the original, if this gate is a copy. The gate of a turn inside a call has a copy in the conversation
 * around it, for which the outer turn waits.
 */
export function originalPlace({ context }: Pick<Gate, 'context'>): GatePlace | undefined {
  const { conversation, gate } = context ?? {}
  return typeof conversation === 'string' && typeof gate === 'string'
    ? { conversation, gate }
    : undefined
}
