import { DateTime } from 'luxon'
import { checksum } from '../core/checksum.ts'
import type { Intent, NewEntry } from '../store/entry.ts'
import type { Gate } from '../store/gate.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { checkArguments } from './admission.ts'
import type { AskedCall } from './ask-calls.ts'
import type { UnsettledCall } from './conversation-log.ts'
import { endCall, useDecision } from './decided-call.ts'
import { closeGate, denialText, needsGate } from './gates.ts'
import { intentOf } from './intent.ts'
import { nestedGates, passOn } from './nested-gates.ts'
import { finishProviderGates } from './provider-gates.ts'
import { NOT_HAPPENED, reconcile } from './reconcile.ts'
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
    if (unsettled.intent !== undefined) {
      waits = (await finishStarted(turn, asked, unsettled, policy)) || waits
    } else if (gate !== undefined) {
      waits = (await finishGated(turn, asked, gate, policy)) || waits
    } else if (policy === 'abandon') await endCall(turn, asked, 'abandoned', ABANDONED)
    else await startNow(turn, asked)
  }
  waits = (await finishProviderGates(turn, policy !== 'abandon')) || waits
  if (conversation.unsettled.size === 0) conversation.flush()
  return waits || conversation.unsettled.size > 0
}

const ABANDONED =
  'Abandoned: the conversation went on before this call was started. It was not run.'
const UNANSWERED = 'Abandoned: nobody decided on this call in time. It was not run.'
const NESTED_ABANDONED = 'Abandoned: nobody decided on what this call had to wait for.'
const IN_DOUBT =
  'In doubt: the process that ran this call ended before it reported. It is not known whether it took effect. Do not repeat it blindly; check first.'

function askedAgain({ item, askedAt, intent, redacted }: UnsettledCall): AskedCall {
  const { id, tool, args, rawArgs } = item
  const createdAt = DateTime.fromMillis(askedAt, { zone: 'utc' }) as DateTime<true>
  const request = {
    tool,
    args,
    // That of the real arguments, also where they were not stored.
    checksum: intent?.checksum ?? checksum(tool, args),
    ...(rawArgs !== undefined && { rawArgs }),
  }
  return {
    id,
    request,
    item,
    createdAt,
    ...(intent?.editOf !== undefined && { editOf: intent.editOf }),
    ...(redacted && { redacted }),
  }
}

/**
 * A call whose handler may have run: repeated only where that is safe, else surfaced as in doubt. Gives true
 * when the turn inside it still waits for a decision.
 */
async function finishStarted(
  turn: Turn,
  asked: AskedCall,
  { intent }: UnsettledCall,
  policy: UnsettledPolicy,
): Promise<boolean> {
  const nested = nestedGates(turn, asked.id)
  if (policy !== 'abandon' && nested.some(({ state }) => state === 'pending')) return true
  await passOn(turn, nested)
  if (policy === 'abandon' && nested.length > 0) {
    await endCall(turn, asked, 'abandoned', NESTED_ABANDONED)
    return false
  }
  const tool = turn.ctx.tools.get(asked.request.tool)
  if (intent === undefined || tool === undefined || policy === 'abandon') {
    return doubt(turn, asked, intent)
  }
  const found = await reconcile(turn, tool, intent.idempotencyKey)
  if (found?.happened === 'yes') {
    const results = await settleOutput(tool, found.output, turn.results)
    await settle(turn, recordCall(turn, asked, { settlement: 'ok', results, tool }))
    return false
  }
  // What was not stored cannot be sent again.
  if (asked.redacted !== undefined) {
    if (found?.happened !== 'no') return doubt(turn, asked)
    await endCall(turn, asked, 'aborted', NOT_HAPPENED)
    return false
  }
  const isRepeatable = intent.effect === 'read' || intent.effect === 'idempotent'
  const isSafe = found?.happened === 'no' || (isRepeatable && tool.effect === intent.effect)
  const validation = await checkArguments(tool, asked.request.args)
  if (!isSafe || !validation.ok) return doubt(turn, asked, intent)
  await runAdmitted(turn, { asked, tool, value: validation.value, intent, isLogged: true })
  return !turn.settled.has(asked.id)
}

async function doubt(turn: Turn, asked: AskedCall, intent?: Intent): Promise<false> {
  const message = `The call \`${asked.id}\` of \`${asked.request.tool}\` was under way when its process ended; nobody knows whether it took effect.`
  turn.observed.emit('warning', { code: 'IN_DOUBT', message, toolCallId: asked.id }, turn.origin)
  const note: NewEntry = {
    kind: 'note',
    turnId: turn.id,
    data: { level: 'warning', code: 'IN_DOUBT', message, data: { toolCallId: asked.id } },
  }
  const end = { settlement: 'in-doubt', results: new Tokenizable(IN_DOUBT) } as const
  const origin = intent?.editOf === undefined ? {} : { editOf: intent.editOf }
  await settle(turn, recordCall(turn, asked, { ...end, ...origin }), [note])
  return false
}

/** A call behind a gate. Gives true when it still waits. */
async function finishGated(
  turn: Turn,
  asked: AskedCall,
  gate: Gate,
  policy: UnsettledPolicy,
): Promise<boolean> {
  const close = (outcome: 'consumed' | 'expired' | 'abandoned') => [closeGate(turn, gate, outcome)]
  if (gate.state === 'pending') {
    if (policy !== 'abandon') return true
    await endCall(turn, asked, 'abandoned', UNANSWERED, close('abandoned'))
  } else if (gate.state === 'expired') {
    await endCall(turn, asked, 'abandoned', UNANSWERED, close('expired'))
  } else if (policy === 'abandon' && gate.state !== 'denied') {
    await endCall(turn, asked, 'abandoned', ABANDONED, close('abandoned'))
  } else if (policy === 'abandon') {
    await endCall(turn, asked, 'denied', denialText(gate), close('consumed'))
  } else {
    await useDecision(turn, asked, gate)
  }
  return false
}

/** A `read` that was to run and left no trace is started; anything else would have left its intent. */
async function startNow(turn: Turn, asked: AskedCall): Promise<void> {
  const tool = turn.ctx.tools.get(asked.request.tool)
  const validation = tool && (await checkArguments(tool, asked.request.args))
  if (tool?.effect !== 'read' || validation?.ok !== true || asked.redacted !== undefined) {
    return endCall(turn, asked, 'abandoned', ABANDONED)
  }
  const { value } = validation
  if (await needsGate(turn, asked, tool, value, turn.conversation.taint)) {
    return endCall(turn, asked, 'abandoned', ABANDONED)
  }
  const intent = intentOf(turn, asked, tool)
  await runAdmitted(turn, { asked, tool, value, intent, isLogged: false })
}
