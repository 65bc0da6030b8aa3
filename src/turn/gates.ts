import { sha256Hex } from '#hash'
import { canonicalStringify } from '../core/canonical.ts'
import type { JsonObject } from '../core/json.ts'
import type { TrustTier } from '../core/trust.ts'
import type { NewEntry } from '../store/entry.ts'
import type { Gate, GateCause, GateRequest } from '../store/gate.ts'
import type { Tool } from '../tools/tool.ts'
import { toolShortcuts } from '../tools/tool-class.ts'
import { mayRepeat } from '../tools/tool-options.ts'
import type { AskedCall } from './asked-call.ts'
import { effectiveArguments } from './effective-arguments.ts'
import type { Turn } from './turn.ts'

/**
 * What a decision is bound to: the tool as it is defined now, and the arguments that its handler would
 * get. Change either and the decision no longer holds.
 */
export function gateDigest(tool: Tool, args: JsonObject): string {
  const { name, description, jsonSchema, effect = null } = tool
  return sha256Hex(canonicalStringify({ tool: { name, description, jsonSchema, effect }, args }))
}

/**
 * Why somebody must agree before this call runs, if so: the tool says so, or the least trusted content that was there
 * before it does.
 */
export function needsGate(
  turn: Turn,
  asked: AskedCall,
  tool: Tool,
  value: unknown,
  taint: TrustTier,
): GateCause | undefined | Promise<GateCause | undefined> {
  const place = { conversation: turn.conversation.id, turnId: turn.id, toolCallId: asked.id }
  const isAsked = toolShortcuts().needsApproval(tool, value, place)
  return isAsked instanceof Promise
    ? isAsked.then((late) => (late ? 'tool' : policyAsks(turn, asked, tool, taint)))
    : isAsked
      ? 'tool'
      : policyAsks(turn, asked, tool, taint)
}

function policyAsks(
  turn: Turn,
  asked: AskedCall,
  tool: Tool,
  taint: TrustTier,
): GateCause | undefined {
  const { policy } = turn.settings
  if (policy === 'open' || mayRepeat(tool.effect)) return undefined
  if (tool.effect === 'write') return taint === 'third-party' ? 'trust' : undefined
  if (policy === 'strict') return 'effect'
  warnUndeclared(turn, tool, asked.id)
  return undefined
}

function warnUndeclared(turn: Turn, tool: Tool, toolCallId: string): void {
  if (turn.warned.has(tool.name)) return
  turn.warned.add(tool.name)
  const message = `\`${tool.name}\` declares no effect and counts as something that must not repeat. Declare \`effect: 'read' | 'idempotent' | 'write'\`.`
  turn.observed.emit('warning', { code: 'UNDECLARED_EFFECT', message, toolCallId }, turn.origin)
}

/** The request that a waiting call makes. */
export function gateRequest(
  turn: Turn,
  asked: AskedCall,
  tool: Tool,
  value: unknown,
  because: GateCause,
): GateRequest {
  const { args, checksum } = asked.request
  const effective = effectiveArguments(args, value)
  return {
    id: turn.settings.ids(),
    type: 'approval',
    because,
    callId: asked.id,
    tool: tool.name,
    args: effective,
    digest: gateDigest(tool, effective),
    context: { checksum },
  }
}

export function openGate(turn: Turn, data: GateRequest): NewEntry {
  return { kind: 'gate-opened', turnId: turn.id, data }
}

export function closeGate(
  turn: Turn,
  { id }: Pick<Gate, 'id'>,
  outcome: 'consumed' | 'expired' | 'abandoned',
): NewEntry {
  return { kind: 'gate-closed', turnId: turn.id, data: { id, outcome } }
}

/** Tells whoever watches that gates were opened. Without them nothing is read, so that nothing rests on it. */
export async function tellOpened(turn: Turn, gates: readonly GateRequest[]): Promise<void> {
  const { observed, origin, settings, conversation } = turn
  if (!observed.has('gateOpened')) return
  try {
    for (const { id } of gates) {
      const gate = await settings.store.gate(conversation.id, id)
      if (gate !== undefined) observed.emit('gateOpened', gate, origin)
    }
  } catch (error) {
    observed.emit('error', { error, where: 'gateOpened' }, origin)
  }
}

/** What the model reads when somebody said no. */
export function denialText({ decision }: Gate): string {
  const why = decision?.comment ? ` The reason given: ${decision.comment}` : ''
  return `Denied: somebody was asked to approve this call and declined. It was not run.${why}`
}
