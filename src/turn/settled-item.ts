import type { Mutable } from '../core/mutable.ts'
import type { TrustTier } from '../core/trust.ts'
import type { CallItem, CallResult, HistoryItem } from '../records/history-item.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { isArtifact } from '../spool/artifact.ts'
import { Media } from '../spool/media.ts'

/** Whether a model may query what a call gave. */
export function holdsArtifacts({ results }: ToolCall): boolean {
  return Array.isArray(results) ? results.every(isArtifact) : isArtifact(results)
}

/** Who vouches for the media that a call gave. */
export function mediaTiers({ results }: ToolCall): readonly TrustTier[] {
  const list: readonly unknown[] | undefined = Array.isArray(results) ? results : undefined
  if (list !== undefined) return list.flatMap((one) => (Media.isMedia(one) ? one.trustTier : []))
  return Media.isMedia(results) ? [results.trustTier] : NO_TIERS
}

/** Most results that are no artifacts are text. */
const NO_TIERS: readonly TrustTier[] = []

/** What a call's results are stored under, each once; text is stored with the call. */
export function digestsOf({ results }: ToolCall): readonly string[] {
  if (Array.isArray(results)) {
    return [...new Set(results.map(({ digest }: { digest: string }) => digest))]
  }
  const { digest } = results as { readonly digest?: string }
  return digest === undefined ? NONE : [digest]
}

const NONE: readonly string[] = []

/** Where the call with this id stands, from the end on; -1 where it does not. */
export function indexOfCall(items: readonly HistoryItem[], id: string): number {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at] as HistoryItem
    if (item.type === 'call' && item.id === id) return at
  }
  return -1
}

/**
 * The item with its result. Spelled out: a spread gives objects of ever new shapes, which are slow to read,
 * and what is added to an object is held in a second one.
 */
export function withResult(item: CallItem, result: CallResult): CallItem {
  const { id, tool, args, rawArgs, fault, wire, executedBy, response, providerData } = item
  const settled: Mutable<CallItem> =
    response === undefined
      ? { type: 'call', id, tool, args, wire, executedBy, result }
      : { type: 'call', id, tool, args, wire, executedBy, result, response }
  if (rawArgs !== undefined) settled.rawArgs = rawArgs
  if (fault !== undefined) settled.fault = fault
  if (providerData !== undefined) settled.providerData = providerData
  if (item.resultOnly) settled.resultOnly = true
  return settled
}
