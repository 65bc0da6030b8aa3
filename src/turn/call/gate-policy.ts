import { sha256Hex } from '#hash'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { TrustTier } from '../../core/trust.ts'
import type { Gate, GateCause, GateRequest } from '../../store/gate.ts'
import { usedDecision } from '../../store/rows/gate-row.ts'
import type { PersonRequest } from '../../tools/person-request.ts'
import type { Tool } from '../../tools/tool.ts'
import { mayRepeat } from '../../tools/tool-options.ts'
import type { AskedCall } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import type { CallScope } from './call-scope.ts'
import { effectiveArguments } from './record.ts'
import type { RunStep } from './step.ts'

/**
 * The digest that a decision is bound to: the definition of the tool, and the arguments for its handler. If either
 * changes, the decision no longer holds.
 */
export function gateDigest(tool: Tool, args: JsonObject): string {
  return sha256Hex(canonicalStringify({ tool: definitionOf(tool), args }))
}

/** The digest of a tool's definition: a standing approval holds for this one only. */
export function definitionDigest(tool: Tool): string {
  return sha256Hex(canonicalStringify(definitionOf(tool)))
}

/** What a decision about a tool is bound to. For the tool of an MCP server, also to all that the server says about it. */
function definitionOf(tool: Tool): JsonObject {
  const { name, description, jsonSchema, effect = null, meta } = tool
  const { mcp } = meta
  return { name, description, jsonSchema, effect, ...(mcp !== undefined && { mcp }) }
}

/** Whether what the conversation has seen makes a call of this tool wait, whatever else does. */
const isTaintGated = ({ settings: { policy } }: CallScope, { effect }: Tool, taint: TrustTier) =>
  policy !== 'open' && effect === 'write' && taint === 'third-party'

/** Why this call needs approval before it runs: its tool asks for it, or the trust policy does. Undefined if it needs none. */
export async function needsGate(
  scope: CallScope,
  call: AskedCall,
  tool: Tool,
  value: unknown,
  taint: TrustTier,
): Promise<GateCause | undefined> {
  const { context, conversation, turnId } = scope.ctx
  const toolCallId = call.item.id
  if (await tool.needsApproval(value, { context, conversation, turnId, toolCallId })) return 'tool'
  const { policy } = scope.settings
  if (policy === 'open' || mayRepeat(tool.effect)) return undefined
  if (tool.effect === 'write') return isTaintGated(scope, tool, taint) ? 'trust' : undefined
  if (policy === 'strict') return 'effect'
  warnUndeclared(scope, tool, toolCallId)
  return undefined
}

function warnUndeclared(scope: CallScope, { name }: Tool, toolCallId: string): void {
  const message = `\`${name}\` declares no effect and counts as something that must not repeat. Declare \`effect: 'read' | 'idempotent' | 'write'\`.`
  scope.events.warnOnce(name, { code: 'UNDECLARED_EFFECT', message, toolCallId })
}

/** The gate that a waiting call opens. */
export function gateRequest(
  scope: CallScope,
  call: AskedCall,
  tool: Tool,
  value: unknown,
  because: GateCause,
  taint: TrustTier,
): GateRequest {
  const { item, checksum, inputId } = call
  const args = effectiveArguments(item.args, value)
  return {
    id: scope.settings.ids(),
    kind: 'approval',
    from: 'runner',
    because,
    toolCallId: item.id,
    ...(inputId !== undefined && { inputId }),
    tool: tool.name,
    args,
    digest: gateDigest(tool, args),
    context: {
      checksum,
      definition: definitionDigest(tool),
      ...(taint !== 'developer' && { taint }),
      ...(isTaintGated(scope, tool, taint) && { tainted: true }),
    },
  }
}

/** The digest of a question that a handler asks: an answer holds for this tool, these arguments and these words. */
export function questionDigest(
  of: Tool,
  { args = {}, message = '', schema, url }: Pick<Gate, 'args' | 'message' | 'schema' | 'url'>,
): string {
  const tool = definitionOf(of)
  const asked = { message, schema: schema ?? null, url: url ?? null }
  return sha256Hex(canonicalStringify({ tool, args, asked }))
}

/** The gate of a call whose handler asks a person. */
export function questionGate(
  { settings, output }: CallScope,
  { call, tool, value }: RunStep,
  { parts }: PersonRequest,
): GateRequest {
  const { kind, schema, url, state, runOnDecline } = parts
  const asked = {
    args: effectiveArguments(call.item.args, value),
    message: output.text(parts.message),
    ...(schema !== undefined && { schema }),
    ...(url !== undefined && { url: output.text(url) }),
  }
  return {
    id: settings.ids(),
    kind,
    from: 'runner',
    tool: tool.name,
    ...asked,
    digest: questionDigest(tool, asked),
    context: {
      ...(state !== undefined && { state: output.json(state) }),
      ...(runOnDecline && { runOnDecline }),
    },
  }
}

/** The fact that closes a gate for good. */
export function closeGate(
  gate: Pick<Gate, 'id' | 'decision'> & Partial<Pick<Gate, 'kind'>>,
  outcome: 'consumed' | 'expired' | 'abandoned',
  more: { readonly late?: true } = {},
): Fact {
  const { id, kind = 'approval', decision } = gate
  const used = decision && { decision: usedDecision({ kind }, decision) }
  return { kind: 'gate-closed', closing: { id, outcome, ...used, ...more } }
}

/** The text that the model reads after a denial. */
export function denialText({ decision }: Gate): string {
  const why = decision?.comment ? ` The reason given: ${decision.comment}` : ''
  return `Denied: a person or a policy declined this call. It was not run.${why}`
}
