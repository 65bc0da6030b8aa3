import { sha256Hex } from '#hash'
import { checksum } from '../../core/checksum.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { CallItem, CallResult, HistoryItem, OpenCallItem } from '../../records/history-item.ts'
import type { OpenCalls } from '../../records/open-calls.ts'
import { providedResults } from '../../records/provided-results.ts'
import type { GateRequest } from '../../store/gate.ts'
import type { Fact } from '../log/fact.ts'
import type { CallScope } from './call-scope.ts'
import { recordOf } from './record.ts'

/** The facts of a provider's own calls in a response that arrived at `at`; stored in the commit of the response. */
export async function providedFacts(
  scope: CallScope,
  items: readonly HistoryItem[],
  at: number,
  inputs: ReadonlyMap<HistoryItem, string>,
): Promise<ReadonlyMap<HistoryItem, readonly Fact[]>> {
  const open = scope.log.state.providers.copy()
  const facts = new Map<HistoryItem, readonly Fact[]>()
  for (const item of items) {
    if (item.type !== 'openCall' && item.type !== 'call') continue
    const inputId = inputs.get(item)
    const streamed = inputId !== undefined && { inputId }
    const asked = { kind: 'item', id: item.id, item, askedAt: at, ...streamed } as const
    if (item.type === 'openCall') {
      open.see(item)
      facts.set(item, openCallFacts(scope, item, asked))
    } else facts.set(item, await callFacts(scope, item, asked, open))
  }
  return facts
}

type ItemFact = Extract<Fact, { kind: 'item' }> & { readonly askedAt: number }

function openCallFacts(scope: CallScope, item: OpenCallItem, asked: ItemFact): readonly Fact[] {
  const { gate } = item
  if (gate === undefined || gate.decision !== undefined) return [asked]
  return [asked, { kind: 'gate-opened', gate: providerGate(scope, item) }]
}

async function callFacts(
  scope: CallScope,
  item: CallItem,
  asked: ItemFact,
  open: OpenCalls,
): Promise<readonly Fact[]> {
  const { executedBy, result } = item
  if (executedBy !== 'provider' || result === undefined) return [asked]
  const record = await providerRecord(scope, item, result, open, asked.askedAt)
  const known = record.id !== item.id && { settles: record.id }
  return [
    { ...asked, ...known },
    { kind: 'settlement', record },
  ]
}

/** A result may belong to a call that an earlier response left open: it settles that one. */
async function providerRecord(
  scope: CallScope,
  item: CallItem,
  result: CallResult,
  openCalls: OpenCalls,
  at: number,
) {
  const open = openCalls.take(item)
  const { id } = open ?? item
  // An item with only a result lacks tool and arguments; the open call has them.
  const { tool, args } = (item.resultOnly && open) || item
  const provided = await providedResults(result, scope.output)
  const call = { item: { ...item, id, tool, args }, checksum: checksum(tool, args) }
  const askedAt = scope.log.state.providerCall(open?.id)?.askedAt ?? at
  const settlement = result.isError ? 'failed' : 'ok'
  return recordOf(scope, { ...call, askedAt }, { settlement, ...provided })
}

function providerGate(scope: CallScope, item: OpenCallItem): GateRequest {
  const { gate, tool, args, id, wire } = item
  return {
    id: scope.settings.ids(),
    kind: gate?.kind === 'consent' ? 'link' : 'approval',
    from: 'provider',
    toolCallId: id,
    tool,
    args,
    digest: sha256Hex(canonicalStringify({ tool, args, wire })),
    ...(gate?.url !== undefined && { context: { url: gate.url } }),
  }
}
