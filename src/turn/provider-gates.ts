import { checksum } from '../core/checksum.ts'
import type { OpenCallItem } from '../records/history-item.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { Gate } from '../store/gate.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { providerDecision } from './conversation-log.ts'
import { closeGate, denialText } from './gates.ts'
import { announce, settle } from './settle-call.ts'
import type { Turn } from './turn.ts'

/**
 * Answers what a provider asked leave for: the decision goes onto the provider's own request, so that
 * the next request carries it. Gives true when something still waits.
 */
export async function finishProviderGates(turn: Turn, mayWait: boolean): Promise<boolean> {
  const gates = turn.conversation.gates.filter(({ type }) => type !== 'approval')
  let waits = false
  for (const gate of gates) {
    const item = turn.conversation.openCall(gate.callId)
    if (item === undefined) continue
    // A provider may have gone on without waiting for anybody: what came of the call stands.
    const isSettled = turn.conversation.call(item.id) !== undefined
    if (gate.state === 'pending' && mayWait && !isSettled) waits = true
    else await answer(turn, gate, item, isSettled)
  }
  return waits
}

async function answer(
  turn: Turn,
  gate: Gate,
  item: OpenCallItem,
  isSettled: boolean,
): Promise<void> {
  const isDecided = gate.state !== 'pending' && gate.state !== 'expired'
  const decision = providerDecision(isDecided ? gate.decision : undefined)
  const outcome = isDecided ? 'consumed' : gate.state === 'expired' ? 'expired' : 'abandoned'
  const closing = closeGate(turn, gate, outcome)
  if (item.gate !== undefined) {
    turn.conversation.replace(item, { ...item, gate: { ...item.gate, decision } })
  }
  if (decision.approved || isSettled) return void (await turn.conversation.append([closing]))
  // What was declined should never come back from the provider, so its end is recorded here.
  turn.conversation.openCalls.forget(item)
  const { id, tool, args, wire } = item
  const now = turn.settings.clock.now()
  announce(turn, { id, tool, args, checksum: checksum(tool, args), createdAt: now })
  const text = isDecided ? denialText(gate) : 'Abandoned: nobody decided on this call in time.'
  const call = new ToolCall({
    id,
    tool,
    args,
    results: new Tokenizable(text),
    isComplete: true,
    isError: true,
    settlement: isDecided ? 'denied' : 'abandoned',
    executedBy: 'provider',
    trust: 'first-party',
    wire,
    createdAt: now,
    completedAt: now,
  })
  await settle(turn, call, [closing])
}
