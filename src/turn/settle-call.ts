import { isBobbinError } from '../core/error.ts'
import { utcTime } from '../core/fields.ts'
import type { JsonObject } from '../core/json.ts'
import type { Mutable } from '../core/mutable.ts'
import { isThenable } from '../core/thenable.ts'
import { lowerTrust, type TrustTier } from '../core/trust.ts'
import type { CallItem } from '../records/history-item.ts'
import { type RawToolCall, type Settlement, ToolCall } from '../records/tool-call.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import type { TurnToolCallContent } from '../records/turn-tool-call-content.ts'
import type { NewEntry } from '../store/entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { ArtifactTool } from '../tools/artifact-tool.ts'
import type { Tool } from '../tools/tool.ts'
import type { ProducedResult } from '../tools/tool-options.ts'
import type { AskedCall } from './asked-call.ts'
import type { Turn } from './turn.ts'

/** How a call ended, before it is a record. */
export interface CallEnd {
  readonly settlement: Settlement
  readonly results: ToolCallResults
  readonly tool?: Tool | undefined
  readonly effectiveArgs?: JsonObject | undefined
  /** The record in doubt that this one settles. */
  readonly supersedes?: string | undefined
  /** Overrides what the tool says. */
  readonly inline?: boolean | undefined
  /** Below what the tool says, when the result holds less trusted content. */
  readonly trust?: TrustTier | undefined
}

/** A call as it is asked for; the time in epoch milliseconds. */
interface Announcement extends Pick<TurnToolCallContent, 'id' | 'tool' | 'args' | 'checksum'> {
  readonly createdAt: number
}

/** Takes a call into the turn's order, and tells the stream that it was asked for. */
export function announce(turn: Turn, call: Announcement): void {
  turn.order.push(call.id)
  if (!turn.content.has('toolCall')) return
  const { id, tool, args, checksum } = call
  const createdAt = utcTime(call.createdAt)
  const state = { isComplete: false, isError: false, createdAt, updatedAt: createdAt }
  turn.content.emit('toolCall', { id, tool, args, checksum, ...state }, turn.origin)
}

/** The record of a call that has ended. */
export function recordCall(turn: Turn, asked: AskedCall, end: CallEnd): ToolCall {
  const { tool, settlement, results, effectiveArgs, supersedes } = end
  const { item, request } = asked
  const isText = Tokenizable.isTokenizable(results)
  const raw: Mutable<RawToolCall> = {
    id: asked.id,
    tool: request.tool,
    args: request.args,
    checksum: request.checksum,
    results,
    isComplete: true,
    isError: settlement !== 'ok',
    settlement,
    inline: end.inline ?? (isText || isInline(turn, asked, end)),
    fromArtifactTool: isText && ArtifactTool.isArtifactTool(tool),
    trust: lowerTrust(mostTrust(settlement, tool), end.trust ?? 'developer'),
    createdAt: asked.createdAt,
    completedAt: turn.settings.clock.now(),
  }
  if (request.rawArgs !== undefined) raw.rawArgs = request.rawArgs
  if (effectiveArgs !== undefined) raw.effectiveArgs = effectiveArgs
  if (asked.editOf !== undefined) raw.editOf = asked.editOf
  if (supersedes !== undefined) raw.supersedes = supersedes
  if (asked.redacted !== undefined) raw.redacted = asked.redacted
  if (item.wire.api !== 'executor') raw.wire = item.wire
  return withProviderData(raw, item)
}

/** Opaque state that is too large for a record stays with the history item alone. */
function withProviderData(raw: RawToolCall, { providerData }: CallItem): ToolCall {
  if (providerData === undefined) return new ToolCall(raw)
  try {
    return new ToolCall({ ...raw, providerData })
  } catch (error) {
    if (!isBobbinError(error, 'E_INVALID_INITIAL_TOOL_CALL_VALUE')) throw error
    return new ToolCall(raw)
  }
}

/** What a tool said is as trusted as the tool; what the runner says in its place is its own word. */
export function mostTrust(settlement: Settlement, tool: Tool | undefined): TrustTier {
  const isToolsWord = settlement === 'ok' || settlement === 'failed'
  return isToolsWord ? (tool?.trust ?? 'third-party') : 'first-party'
}

function isInline(turn: Turn, asked: AskedCall, { tool, results }: CallEnd): boolean {
  if (tool === undefined) return true
  if (typeof tool.inline === 'boolean') return tool.inline
  const place = { conversation: turn.conversation.id, turnId: turn.id, toolCallId: asked.id }
  try {
    const isShown: unknown = tool.inline(results as ProducedResult, place)
    if (typeof isShown === 'boolean') return isShown
    // Nobody waits for a promise here, nor hears of its failure.
    if (isThenable(isShown)) isShown.then(undefined, () => {})
    throw new TypeError(
      '`inline` must give true or false at once: it decides how a result is shown.',
    )
  } catch (error) {
    // A handle is never too large.
    turn.observed.emit('error', { error, where: 'inline' }, turn.origin)
    return false
  }
}

/**
 * Makes a record durable, shows it to the model with the note, and tells the stream. Gives nothing to wait
 * for where all that is done at once.
 */
export function settle(
  turn: Turn,
  call: ToolCall,
  extra: readonly NewEntry[] = [],
  note?: string,
): Promise<void> | undefined {
  const recording = turn.conversation.record(call, turn.id, extra, note)
  return recording === undefined
    ? settleLogged(turn, call, note)
    : recording.then(() => settleLogged(turn, call, note))
}

/** Takes in a call whose record is in the log already, and tells the stream. */
export function settleLogged(turn: Turn, call: ToolCall, note?: string): Promise<void> | undefined {
  const showing = turn.conversation.settled(call, note)
  if (showing !== undefined) return showing.then(() => tellSettled(turn, call))
  tellSettled(turn, call)
  return undefined
}

function tellSettled(turn: Turn, call: ToolCall): void {
  turn.settled.set(call.id, call)
  if (!turn.content.has('toolCall')) return
  const { id, tool, args, checksum, isError, settlement, createdAt, updatedAt, completedAt } = call
  const results = Tokenizable.isTokenizable(call.results) ? call.results.text : call.results
  const content = { id, tool, args, checksum, results, isComplete: true, isError, settlement }
  turn.content.emit('toolCall', { ...content, createdAt, updatedAt, completedAt }, turn.origin)
}
