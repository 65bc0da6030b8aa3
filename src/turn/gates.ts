import { sha256Hex } from '#hash'
import { canonicalStringify } from '../core/canonical.ts'
import type { JsonObject, JsonValue } from '../core/json.ts'
import type { Gate, GateRequest, NewGateDecision } from '../store/gate.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './ask-calls.ts'
import type { GateAnswer } from './gate-answer.ts'
import type { Turn } from './turn.ts'

/**
 * What a decision is bound to: the tool as it is defined now, and the arguments that its handler would
 * get. Change either and the decision no longer holds.
 */
export function gateDigest(tool: Tool, args: JsonValue): string {
  const { name, description, jsonSchema, effect = null } = tool
  return sha256Hex(canonicalStringify({ tool: { name, description, jsonSchema, effect }, args }))
}

/** The arguments in the form that a gate stores and shows: what the handler would get, as JSON. */
export function gateArgs(asked: AskedCall, value: unknown): JsonObject {
  return isJsonObject(value) ? value : asked.request.args
}

function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  try {
    return canonicalStringify(value) === canonicalStringify(structuredClone(value))
  } catch {
    return false
  }
}

/** Whether somebody must agree before this call runs: the tool says so, or the conversation's taint does. */
export async function needsGate(
  turn: Turn,
  asked: AskedCall,
  tool: Tool,
  value: unknown,
): Promise<boolean> {
  const { policy } = turn.settings
  const place = { conversation: turn.conversation.id, turnId: turn.id, toolCallId: asked.id }
  if (await tool.needsApproval(value, place)) return true
  if (policy === 'open' || tool.effect === 'read' || tool.effect === 'idempotent') return false
  if (tool.effect === 'write') return turn.conversation.taint === 'third-party'
  if (policy === 'strict') return true
  warnUndeclared(turn, tool, asked.id)
  return false
}

function warnUndeclared(turn: Turn, tool: Tool, toolCallId: string): void {
  const message = `\`${tool.name}\` declares no effect and counts as something that must not repeat. Declare \`effect: 'read' | 'idempotent' | 'write'\`.`
  turn.observed.emit('warning', { code: 'UNDECLARED_EFFECT', message, toolCallId }, turn.origin)
}

/** The request that a waiting call makes. */
export function gateRequest(turn: Turn, asked: AskedCall, tool: Tool, value: unknown): GateRequest {
  const args = gateArgs(asked, value)
  return {
    id: turn.settings.ids(),
    type: 'approval',
    callId: asked.id,
    tool: tool.name,
    args,
    digest: gateDigest(tool, args),
  }
}

/** An application's answer in the store's words. */
export function decisionOf(answer: Omit<GateAnswer, 'gate'>): NewGateDecision {
  const { approve, decidedBy, args, reason, digest } = answer
  return {
    verdict: approve ? (args === undefined ? 'approved' : 'edited') : 'denied',
    decidedBy,
    ...(approve && args !== undefined && { args }),
    ...(reason !== undefined && { comment: reason }),
    ...(digest !== undefined && { digest }),
  }
}

/** What the model reads when somebody said no. */
export function denialText({ decision }: Gate): string {
  const why = decision?.comment ? ` The reason given: ${decision.comment}` : ''
  return `Denied: somebody was asked to approve this call and declined. It was not run.${why}`
}
