import { DateTime } from 'luxon'
import { sha256Hex } from '#hash'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { canonicalStringify } from '../core/canonical.ts'
import { checksum } from '../core/checksum.ts'
import type { CallItem, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { GateRequest } from '../store/gate.ts'
import { openGate, tellOpened } from './gates.ts'
import { announce, settle } from './settle-call.ts'
import type { Turn } from './turn.ts'

/**
 * What a provider ran by itself becomes settled records like everything else; what it asks leave for opens
 * gates. Gives whether the turn must wait.
 */
export async function settleProviderCalls(
  turn: Turn,
  items: readonly HistoryItem[],
): Promise<boolean> {
  const gates: GateRequest[] = []
  for (const item of items) {
    if (item.type === 'call' && item.executedBy === 'provider') await settleProviderCall(turn, item)
    if (item.type === 'openCall' && isUndecided(item)) gates.push(providerGate(turn, item))
  }
  if (gates.length === 0) return false
  await turn.conversation.append(gates.map((gate) => openGate(turn, gate)))
  await tellOpened(turn, gates)
  return true
}

const isUndecided = ({ gate }: OpenCallItem) => gate !== undefined && gate.decision === undefined

/** A result may belong to a call that an earlier response left open: it settles that one. */
async function settleProviderCall(turn: Turn, item: CallItem): Promise<void> {
  const { result, wire } = item
  if (result === undefined) return
  const { id, tool, args } = turn.conversation.openCalls.take(item) ?? item
  const text = result.parts
    .map((part) => (part.type === 'text' ? part.text : `[${part.kind}]`))
    .join('\n')
  const now = DateTime.fromMillis(turn.settings.clock.now(), { zone: 'utc' })
  announce(turn, { id, tool, args, checksum: checksum(tool, args), createdAt: now })
  const call = new ToolCall({
    id,
    tool,
    args,
    results: new SpooledArtifact(await turn.results.write(text)),
    isComplete: true,
    isError: result.isError,
    executedBy: 'provider',
    wire,
    createdAt: now,
    completedAt: now,
  })
  await settle(turn, call)
}

function providerGate(turn: Turn, item: OpenCallItem): GateRequest {
  const { gate, tool, args, id, wire } = item
  return {
    id: turn.settings.ids(),
    type: gate?.kind === 'consent' ? 'provider-consent' : 'provider-approval',
    callId: id,
    tool,
    args,
    digest: sha256Hex(canonicalStringify({ tool, args, wire })),
    ...(gate?.url !== undefined && { context: { url: gate.url } }),
  }
}
