import { sha256Hex } from '#hash'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { canonicalStringify } from '../core/canonical.ts'
import type { CallItem, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { GateRequest } from '../store/gate.ts'
import { settle } from './settle-call.ts'
import type { Turn } from './turn.ts'

/**
 * What a provider ran by itself becomes settled records like everything else; what it asks leave for opens
 * gates. Gives whether the turn must wait.
 */
export async function settleProviderCalls(
  turn: Turn,
  items: readonly HistoryItem[],
): Promise<boolean> {
  let waits = false
  for (const item of items) {
    if (item.type === 'call' && item.executedBy === 'provider') await settleProviderCall(turn, item)
    if (item.type === 'openCall' && item.gate !== undefined && item.gate.decision === undefined) {
      await openProviderGate(turn, item)
      waits = true
    }
  }
  return waits
}

async function settleProviderCall(turn: Turn, item: CallItem): Promise<void> {
  const { result } = item
  if (result === undefined || turn.settled.has(item.id)) return
  const text = result.parts
    .map((part) => (part.type === 'text' ? part.text : `[${part.kind}]`))
    .join('\n')
  const now = turn.settings.clock.now()
  turn.order.push(item.id)
  const call = new ToolCall({
    id: item.id,
    tool: item.tool,
    args: item.args,
    results: new SpooledArtifact(await turn.results.write(text)),
    isComplete: true,
    isError: result.isError,
    executedBy: 'provider',
    wire: item.wire,
    createdAt: now,
    completedAt: now,
  })
  await settle(turn, call)
}

async function openProviderGate(turn: Turn, item: OpenCallItem): Promise<void> {
  const { gate, tool, args, id } = item
  const request: GateRequest = {
    id: turn.settings.ids(),
    type: gate?.kind === 'consent' ? 'provider-consent' : 'provider-approval',
    callId: id,
    tool,
    args,
    digest: sha256Hex(canonicalStringify({ tool, args, wire: item.wire })),
    ...(gate?.url !== undefined && { context: { url: gate.url } }),
  }
  await turn.conversation.append([{ kind: 'gate-opened', turnId: turn.id, data: request }])
}
