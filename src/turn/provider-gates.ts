import { checksum } from '../core/checksum.ts'
import { replaceItem } from '../records/growing-history.ts'
import type { HistoryItem, OpenCallItem } from '../records/history-item.ts'
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
    const place = findOpenCall(turn, gate)
    if (place === undefined) continue
    if (gate.state === 'pending' && mayWait) waits = true
    else await answer(turn, gate, place)
  }
  return waits
}

interface Place {
  readonly list: HistoryItem[]
  readonly index: number
  readonly item: OpenCallItem
}

function findOpenCall(turn: Turn, { callId }: Gate): Place | undefined {
  const { items, batch } = turn.conversation
  for (const list of [batch, items]) {
    const index = list.findLastIndex((item) => item.type === 'openCall' && item.id === callId)
    const item = list[index]
    if (item?.type === 'openCall') return { list, index, item }
  }
  return undefined
}

async function answer(turn: Turn, gate: Gate, { list, index, item }: Place): Promise<void> {
  const isDecided = gate.state !== 'pending' && gate.state !== 'expired'
  const decision = providerDecision(isDecided ? gate.decision : undefined)
  const outcome = isDecided ? 'consumed' : gate.state === 'expired' ? 'expired' : 'abandoned'
  const closing = closeGate(turn, gate, outcome)
  if (item.gate !== undefined) {
    replaceItem(list, index, { ...item, gate: { ...item.gate, decision } })
  }
  if (decision.approved) return void (await turn.conversation.append([closing]))
  // What was declined never comes back from the provider, so its end is recorded here.
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
