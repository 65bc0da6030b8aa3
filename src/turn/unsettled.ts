import { DateTime } from 'luxon'
import { checksum } from '../core/checksum.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { NewEntry } from '../store/entry.ts'
import type { Gate } from '../store/gate.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './ask-calls.ts'
import type { UnsettledCall } from './conversation.ts'
import { denialText, gateDigest } from './gates.ts'
import { intentOf } from './run-batch.ts'
import { runAdmitted } from './run-call.ts'
import { recordCall, settle } from './settle-call.ts'
import { settleOutput } from './settle-output.ts'
import type { Turn } from './turn.ts'

/** What to do about calls that an earlier process, or an unanswered gate, left without an end. */
export type UnsettledPolicy = 'resume' | 'recover' | 'abandon'

/**
 * Ends every call that was asked for and has no record, each in the way that its log allows. Gives true when
 * some still wait for a decision.
 */
export async function finishUnsettled(turn: Turn, policy: UnsettledPolicy): Promise<boolean> {
  const { conversation } = turn
  let waits = false
  for (const unsettled of [...conversation.unsettled.values()]) {
    const asked = askedAgain(unsettled)
    turn.order.push(asked.id)
    const gate = conversation.gates.find(({ callId }) => callId === asked.id)
    if (unsettled.intent !== undefined) await finishStarted(turn, asked, unsettled, policy)
    else if (gate !== undefined) waits = (await finishGated(turn, asked, gate, policy)) || waits
    else if (policy === 'abandon') await end(turn, asked, 'abandoned', ABANDONED)
    else await startNow(turn, asked)
  }
  if (!waits) conversation.flush()
  return waits
}

const ABANDONED =
  'Abandoned: the conversation went on before this call was started. It was not run.'
const UNANSWERED = 'Abandoned: nobody decided on this call in time. It was not run.'
const IN_DOUBT =
  'In doubt: the process that ran this call ended before it reported. It is not known whether it took effect. Do not repeat it blindly; check first.'

function askedAgain({ item, askedAt }: UnsettledCall): AskedCall {
  const { id, tool, args, rawArgs } = item
  const createdAt = DateTime.fromMillis(askedAt, { zone: 'utc' }) as DateTime<true>
  const request = {
    tool,
    args,
    checksum: checksum(tool, args),
    ...(rawArgs !== undefined && { rawArgs }),
  }
  return { id, request, item, createdAt }
}

async function end(
  turn: Turn,
  asked: AskedCall,
  settlement: Settlement,
  text: string,
  extra: readonly NewEntry[] = [],
): Promise<void> {
  const results = new Tokenizable(text)
  await settle(turn, recordCall(turn, asked, { settlement, results }), extra)
}

/** A call whose handler may have run: repeated only where that is safe, else surfaced as in doubt. */
async function finishStarted(
  turn: Turn,
  asked: AskedCall,
  { intent }: UnsettledCall,
  policy: UnsettledPolicy,
): Promise<void> {
  const tool = turn.settings.tools.get(asked.request.tool)
  if (intent === undefined || tool === undefined || policy === 'abandon') return doubt(turn, asked)
  if (tool.reconcile !== undefined && (await reconciled(turn, asked, tool, intent.idempotencyKey)))
    return
  const isSafe = intent.effect === 'read' || intent.effect === 'idempotent'
  if (!isSafe || tool.effect !== intent.effect) return doubt(turn, asked)
  const validation = await tool.validate(asked.request.args)
  if (!validation.ok) return doubt(turn, asked)
  await runAdmitted(turn, asked, { tool, value: validation.value }, intent)
}

async function doubt(turn: Turn, asked: AskedCall): Promise<void> {
  const message = `The call \`${asked.id}\` of \`${asked.request.tool}\` was under way when its process ended; nobody knows whether it took effect.`
  turn.observed.emit('warning', { code: 'IN_DOUBT', message, toolCallId: asked.id }, turn.origin)
  const note: NewEntry = {
    kind: 'note',
    turnId: turn.id,
    data: { level: 'warning', code: 'IN_DOUBT', message, data: { toolCallId: asked.id } },
  }
  await end(turn, asked, 'in-doubt', IN_DOUBT, [note])
}

/** Asks the tool what became of the call. Gives false when it cannot say, or when nothing happened. */
async function reconciled(turn: Turn, asked: AskedCall, tool: Tool, key: string): Promise<boolean> {
  const found = await tool.reconcile?.(key)
  if (found?.happened !== 'yes') return false
  const results = await settleOutput(tool, found.output, turn.results)
  await settle(turn, recordCall(turn, asked, { settlement: 'ok', results, tool }))
  return true
}

/** A call behind a gate. Gives true when it still waits. */
async function finishGated(
  turn: Turn,
  asked: AskedCall,
  gate: Gate,
  policy: UnsettledPolicy,
): Promise<boolean> {
  const close = (outcome: 'consumed' | 'expired' | 'abandoned'): NewEntry => ({
    kind: 'gate-closed',
    turnId: turn.id,
    data: { id: gate.id, outcome },
  })
  if (gate.state === 'pending') {
    if (policy !== 'abandon') return true
    await end(turn, asked, 'abandoned', UNANSWERED, [close('abandoned')])
  } else if (gate.state === 'expired') {
    await end(turn, asked, 'abandoned', UNANSWERED, [close('expired')])
  } else if (gate.state === 'denied' || policy === 'abandon') {
    await end(turn, asked, 'denied', denialText(gate), [close('consumed')])
  } else {
    await useDecision(turn, asked, gate, close('consumed'))
  }
  return false
}

/** Uses a decision once: the gate is closed and the intent made durable in one step, then the call runs. */
async function useDecision(
  turn: Turn,
  asked: AskedCall,
  gate: Gate,
  closing: NewEntry,
): Promise<void> {
  const tool = turn.settings.tools.get(asked.request.tool)
  if (tool === undefined || gateDigest(tool, gate.args ?? {}) !== gate.digest) {
    const text =
      'Refused: the tool was removed or its definition changed after this call was approved. It was not run.'
    return end(turn, asked, 'refused', text, [closing])
  }
  const edited = gate.decision?.verdict === 'edited' ? gate.decision.args : undefined
  const args = edited === undefined ? asked.request.args : normalizeArguments(edited)
  const validation = await tool.validate(args)
  if (!validation.ok) {
    return end(
      turn,
      asked,
      'refused',
      'Refused: the approved arguments do not fit the tool. It was not run.',
      [closing],
    )
  }
  const call = edited === undefined ? asked : editedCall(turn, asked, args)
  const intent = { ...intentOf(turn, call, tool), gateId: gate.id }
  await turn.conversation.append([closing, { kind: 'intent', turnId: turn.id, data: intent }])
  if (edited !== undefined) {
    await end(
      turn,
      asked,
      'denied',
      `The arguments were changed by a person; the call ran as \`${call.id}\`.`,
    )
    turn.order.push(call.id)
  }
  const origin = edited === undefined ? {} : { editOf: asked.id }
  await runAdmitted(turn, call, { tool, value: validation.value }, intent, origin)
}

/** What a person made of a call: a record of its own, beside the original. */
function editedCall(turn: Turn, asked: AskedCall, args: AskedCall['request']['args']): AskedCall {
  const { tool } = asked.request
  const id = turn.conversation.ids.claim(asked.id)
  return { ...asked, id, request: { tool, args, checksum: checksum(tool, args) } }
}

/** A call that was asked for and never begun is admitted like a new one. */
async function startNow(turn: Turn, asked: AskedCall): Promise<void> {
  const tool = turn.settings.tools.get(asked.request.tool)
  const validation = await tool?.validate(asked.request.args)
  if (tool === undefined || !validation?.ok || (await tool.needsApproval(validation.value))) {
    return end(turn, asked, 'abandoned', ABANDONED)
  }
  const intent = intentOf(turn, asked, tool)
  if (tool.effect !== 'read') {
    await turn.conversation.append([{ kind: 'intent', turnId: turn.id, data: intent }])
  }
  await runAdmitted(turn, asked, { tool, value: validation.value }, intent)
}
