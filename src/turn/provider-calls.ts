import { sha256Hex } from '#hash'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { canonicalStringify } from '../core/canonical.ts'
import type { CallItem, CallResult, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { GateRequest } from '../store/gate.ts'
import { tellOpened } from './gates.ts'
import { announce, settleLogged } from './settle-call.ts'
import type { Turn } from './turn.ts'

/** What a response holds of the provider's own doing. */
export interface ProvidedCalls {
  /** What the provider ran by itself: settled records like everything else. */
  readonly calls: readonly ToolCall[]
  /** What it asks leave for. */
  readonly gates: readonly GateRequest[]
  /** Where each call of the response stands in it, by the id of its record. */
  readonly places: ReadonlyMap<string, number>
}

/** Reads the provider's own calls of a response, so that they can be stored in one commit with it. */
export async function providedCalls(
  turn: Turn,
  items: readonly HistoryItem[],
): Promise<ProvidedCalls> {
  const { openCalls } = turn.conversation
  const calls: ToolCall[] = []
  const gates: GateRequest[] = []
  const places = new Map<string, number>()
  for (const [place, item] of items.entries()) {
    if (item.type === 'openCall') {
      openCalls.see(item)
      if (isUndecided(item)) gates.push(providerGate(turn, item))
    } else if (item.type === 'call') {
      const { executedBy, result } = item
      const isSettled = executedBy === 'provider' && result !== undefined
      const call = isSettled ? await providerRecord(turn, item, result) : undefined
      if (call !== undefined) calls.push(call)
      places.set(call?.id ?? item.id, place)
    }
  }
  return { calls, gates, places }
}

/** Tells of what is stored by now. */
export async function tellProvided(turn: Turn, { calls, gates }: ProvidedCalls): Promise<void> {
  for (const call of calls) {
    const { id, tool, args, checksum, createdAt } = call
    announce(turn, { id, tool, args, checksum, createdAt: createdAt.toMillis() })
    await settleLogged(turn, call)
  }
  await tellOpened(turn, gates)
}

/** Whether a response holds anything that a provider ran, or wants to run, by itself. */
export const hasProvided = (items: readonly HistoryItem[]): boolean =>
  items.some(
    (item) => item.type === 'openCall' || (item.type === 'call' && item.executedBy === 'provider'),
  )

export const NOTHING_PROVIDED: ProvidedCalls = { calls: [], gates: [], places: new Map() }

/** The provider's calls are announced behind the runner's, and stand among those where the response has them. */
export function inOrderAsked(turn: Turn, { places }: ProvidedCalls, before: number): void {
  let last = -1
  // What has no place, because a person made it of another call, stays behind what it came after.
  const placed = turn.order.splice(before).map((id) => {
    last = places.get(id) ?? last
    return { id, place: last }
  })
  for (const { id } of placed.sort((one, other) => one.place - other.place)) turn.order.push(id)
}

const isUndecided = ({ gate }: OpenCallItem) => gate !== undefined && gate.decision === undefined

/** A result may belong to a call that an earlier response left open: it settles that one. */
async function providerRecord(turn: Turn, item: CallItem, result: CallResult): Promise<ToolCall> {
  const open = turn.conversation.openCalls.take(item)
  const { id } = open ?? item
  // A result alone does not know what was asked; an item that was told again does.
  const { tool, args } = (item.resultOnly && open) || item
  const text = result.parts
    .map((part) => (part.type === 'text' ? part.text : `[${part.kind}]`))
    .join('\n')
  const now = turn.settings.clock.now()
  return new ToolCall({
    id,
    tool,
    args,
    results: new SpooledArtifact(await turn.results.write(text)),
    isComplete: true,
    isError: result.isError,
    executedBy: 'provider',
    wire: item.wire,
    createdAt: now,
    completedAt: now,
  })
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
