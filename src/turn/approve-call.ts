import type { GateRequest } from '../store/gate.ts'
import type { AskedCall } from './asked-call.ts'
import { endCall, useDecision, type ValidatedCall } from './decided-call.ts'
import { type Approve, decideGate, gateDecided } from './gate-answer.ts'
import { closeGate } from './gates.ts'
import type { Turn } from './turn.ts'

const NO_DECISION =
  'Denied: no valid decision on this call was to be had. It was not run. Do not ask again for the same.'

/**
 * Has a gate decided in this process. It is opened, decided and used like any other, so that the log
 * tells the same story, and a process that dies while somebody thinks leaves a gate that can be answered.
 */
export async function approveInProcess(
  turn: Turn,
  asked: AskedCall,
  gate: GateRequest,
  approve: Approve,
  validated?: ValidatedCall,
): Promise<void> {
  const { settings, conversation, observed, origin } = turn
  try {
    turn.signal.throwIfAborted()
    const answer = await turn.interruption.watch.orAborted((async () => approve(gate))())
    const given = typeof answer === 'boolean' ? { approve: answer, decidedBy: 'approve' } : answer
    const decided = await decideGate(settings, conversation.id, gate.id, given)
    observed.emit('gateDecided', gateDecided(decided), origin)
    // The store may hold less of the request than was decided on: a hook can have redacted it.
    const { args, context } = gate
    const request = { ...(args && { args }), ...(context && { context }) }
    return await useDecision(turn, asked, { ...decided, ...request }, validated)
  } catch (error) {
    if (turn.settled.has(asked.id)) throw error
    const closing = [closeGate(turn, gate, 'abandoned')]
    if (turn.signal.aborted) {
      const text = 'The turn was aborted before this call was approved. It was not run.'
      return endCall(turn, asked, 'aborted', text, closing)
    }
    observed.emit('error', { error, where: 'approve' }, origin)
    await endCall(turn, asked, 'denied', NO_DECISION, closing)
  }
}
