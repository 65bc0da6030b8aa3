import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { sameJson } from '../../core/json/same-json.ts'
import { normalizeArguments } from '../../core/json/strict-json.ts'
import { isThenable } from '../../core/thenable.ts'
import { lowerTrust, type TrustTier } from '../../core/trust.ts'
import type { ApprovedBy } from '../../records/approved-by.ts'
import type { PlacedMedia } from '../../records/placed-media.ts'
import { type RawToolCall, type Settlement, ToolCall } from '../../records/tool-call.ts'
import type { ToolCallResults } from '../../records/tool-call-results.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import { ArtifactTool } from '../../tools/artifact-tool.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ProducedResult } from '../../tools/tool-options.ts'
import type { AskedCall } from '../log/call-state.ts'
import { doubtNote, type Fact } from '../log/fact.ts'
import type { CallScope } from './call-scope.ts'
import type { EndStep } from './step.ts'

/** The end of a call: everything that its record needs besides the call. */
export interface CallEnd {
  readonly settlement: Settlement
  readonly results: ToolCallResults
  /** Media beside text, with their places. */
  readonly media?: readonly PlacedMedia[] | undefined
  readonly tool?: Tool | undefined
  readonly effectiveArgs?: JsonObject | undefined
  /** What allowed it; its intent says so unless given. */
  readonly approvedBy?: ApprovedBy | undefined
  /** The record in doubt that this one settles. */
  readonly supersedes?: string | undefined
  /** Who executed the call, if not who was asked to. */
  readonly executedBy?: 'external' | undefined
  /** Overrides what the tool says. */
  readonly inline?: boolean | undefined
  /** Lowers the tool's own trust when the result holds less trusted content. */
  readonly trust?: TrustTier | undefined
}

/** The record of a call that has ended. This is the only builder of records in a turn. */
export function recordOf(scope: CallScope, call: AskedCall, end: CallEnd): ToolCall {
  const { tool, settlement, results, media, effectiveArgs, supersedes } = end
  const { item, checksum, rawArgs, editOf, redacted } = call
  const isText = Tokenizable.isTokenizable(results)
  const approvedBy = end.approvedBy ?? approvalOf(scope, item.id)
  const raw: RawToolCall = {
    id: item.id,
    tool: item.tool,
    args: item.args,
    checksum,
    results,
    isComplete: true,
    isError: settlement !== 'ok',
    settlement,
    executedBy: end.executedBy ?? item.executedBy,
    inline: end.inline ?? (isText || isInline(scope, call, end)),
    fromArtifactTool: isArtifactQuery(scope, item),
    trust: lowerTrust(maxTrust(settlement, tool), end.trust ?? 'developer'),
    createdAt: call.askedAt,
    completedAt: scope.settings.clock.now(),
    ...(media !== undefined && { media }),
    ...(rawArgs !== undefined && { rawArgs }),
    ...(effectiveArgs !== undefined && { effectiveArgs }),
    ...(approvedBy !== undefined && { approvedBy }),
    ...(editOf !== undefined && { editOf }),
    ...(supersedes !== undefined && { supersedes }),
    ...(item.undoes !== undefined && { undoes: item.undoes }),
    ...(redacted !== undefined && { redacted }),
    ...(item.wire.api !== 'executor' && { wire: item.wire }),
  }
  const { providerData } = item
  if (providerData === undefined || item.executedBy === 'provider') return new ToolCall(raw)
  try {
    return new ToolCall({ ...raw, providerData })
  } catch (error) {
    // `providerData` that is too large for a record stays in the history item.
    if (!isBobbinError(error, 'E_INVALID_INITIAL_TOOL_CALL_VALUE')) throw error
    return new ToolCall(raw)
  }
}

/** What allowed a call that started. */
function approvalOf({ log }: CallScope, id: string): ApprovedBy | undefined {
  const state = log.state.open.get(id)
  return state !== undefined && 'intent' in state ? state.intent.approvedBy : undefined
}

/** Whether a call is one of an artifact tool, however it ended: no artifact tool reads its results. */
const isArtifactQuery = ({ tools }: CallScope, { tool, executedBy }: AskedCall['item']): boolean =>
  executedBy === 'runner' && ArtifactTool.isArtifactTool(tools.get(tool))

/** The facts of a record: its settlement, and a note for operators when it is in doubt. */
export const settlementOf = (record: ToolCall): readonly Fact[] =>
  record.settlement === 'in-doubt'
    ? [{ kind: 'settlement', record }, doubtNote(record)]
    : [{ kind: 'settlement', record }]

/** Ends a call without running it. */
export function endStep(
  scope: CallScope,
  call: AskedCall,
  settlement: Settlement,
  text: string,
  more: readonly Fact[] = [],
): EndStep {
  const record = recordOf(scope, call, { settlement, results: new Tokenizable(text) })
  return { do: 'end', call, facts: [...settlementOf(record), ...more] }
}

/** The highest trust of a record: the tool's for its own output, `first-party` for a text of the runner. */
export function maxTrust(settlement: Settlement, tool: Tool | undefined): TrustTier {
  const isToolsWord = settlement === 'ok' || settlement === 'failed'
  return isToolsWord ? (tool?.trust ?? 'third-party') : 'first-party'
}

function isInline(scope: CallScope, call: AskedCall, { tool, results }: CallEnd): boolean {
  if (tool === undefined) return true
  if (typeof tool.inline === 'boolean') return tool.inline
  const { context, conversation, turnId } = scope.ctx
  const place = { context, conversation, turnId, toolCallId: call.item.id }
  try {
    const isShown: unknown = tool.inline(results as ProducedResult, place)
    if (typeof isShown === 'boolean') return isShown
    // A promise is not awaited; its failure must not become an unhandled rejection.
    if (isThenable(isShown)) isShown.then(undefined, () => {})
    throw new TypeError(
      '`inline` must give true or false at once: it decides how a result is shown.',
    )
  } catch (error) {
    // Fall back to a handle: it is never too large.
    scope.events.error(error, 'inline', call.item.id)
    return false
  }
}

/**
 * The arguments that the handler gets, as JSON: the validated value, or the arguments as supplied if the value is not
 * JSON, such as a `Date`.
 */
export function effectiveArguments(args: JsonObject, value: unknown): JsonObject {
  // Schemas return a copy even if nothing changed; comparing is cheaper than copying again.
  if (typeof value !== 'object' || value === null || sameJson(value, args)) return args
  try {
    return normalizeArguments(value)
  } catch {
    return args
  }
}

/** The effective arguments for a record; undefined when validation changed nothing. */
export function changedArguments(args: JsonObject, value: unknown): JsonObject | undefined {
  const effective = effectiveArguments(args, value)
  return effective === args || sameJson(effective, args) ? undefined : effective
}
