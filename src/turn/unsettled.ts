import { checksum } from '../core/checksum.ts'
import type { Intent } from '../store/entry.ts'
import type { Gate } from '../store/gate.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import { toolShortcuts } from '../tools/tool-class.ts'
import { mayRepeat } from '../tools/tool-options.ts'
import { abandonLeft, abandonNested } from './abandon-nested.ts'
import { abandonOrphans } from './abandon-orphans.ts'
import type { AdmittedCall } from './admitted-call.ts'
import { approveInProcess } from './approve-call.ts'
import type { AskedCall } from './asked-call.ts'
import { doubtfulEnd } from './attempt-end.ts'
import type { UnsettledCall } from './conversation-log.ts'
import { approvedInput, endCall, useDecision } from './decided-call.ts'
import { closeGate, denialText, gateDigest, needsGate } from './gates.ts'
import { IN_DOUBT, tellDoubt } from './in-doubt.ts'
import { isDecided, isHeldUp, nestedGates, passOn } from './nested-gates.ts'
import { conversationInside, settingsInside } from './nested-turn.ts'
import { finishProviderGates } from './provider-gates.ts'
import { happenedEnd, NOT_HAPPENED, reconcile } from './reconcile.ts'
import { runAdmitted } from './run-call.ts'
import { type Job, runJobs } from './schedule.ts'
import { type CallEnd, recordCall, settle } from './settle-call.ts'
import { ofStore } from './store-failure.ts'
import type { Turn } from './turn.ts'

/** What to do about calls that an earlier process, or an unanswered gate, left without an end. */
export type UnsettledPolicy = 'resume' | 'recover' | 'abandon'

/**
 * Ends every call that was asked for and has no record, each in the way that its log allows, side by side
 * like the calls of any response. Gives true when some still wait for a decision.
 */
export async function finishUnsettled(turn: Turn, policy: UnsettledPolicy): Promise<boolean> {
  const { conversation, ctx, settings, guard } = turn
  const isSameTurn = policy !== 'abandon'
  if (isSameTurn) for (const called of conversation.recent) guard.recall(called)
  const jobs = [...conversation.unsettled.values()].map((unsettled): Job => {
    const asked = loggedCall(unsettled)
    turn.order.push(asked.id)
    if (isSameTurn) guard.recall(asked.request.checksum)
    const exclusive = ctx.tools.get(asked.request.tool)?.exclusive ?? false
    return { exclusive, run: () => finishCall(turn, asked, unsettled, policy) }
  })
  await runJobs(jobs, settings.concurrency, turn.interruption.lose)
  if (conversation.tail.isOpen || policy === 'recover') await abandonOrphans(turn, abandonAll)
  const waits = await finishProviderGates(turn, isSameTurn)
  if (conversation.unsettled.size === 0) conversation.flush()
  return waits || conversation.unsettled.size > 0
}

async function finishCall(
  turn: Turn,
  asked: AskedCall,
  { intent }: UnsettledCall,
  policy: UnsettledPolicy,
): Promise<void> {
  if (intent !== undefined) return finishStarted(turn, asked, intent, policy)
  const gate = turn.conversation.gates.find(({ callId }) => callId === asked.id)
  if (gate !== undefined) return finishGated(turn, asked, gate, policy)
  if (policy === 'abandon') return endCall(turn, asked, 'abandoned', NO_RESULT)
  return startNow(turn, asked)
}

/**
 * Of a read, which leaves neither intent nor gate behind, so that nobody knows whether it ran; and of a call whose
 * inner turn was decided on and not gone on with.
 */
const NO_RESULT = 'Abandoned: the conversation went on before this call had a result.'
const NOT_STARTED =
  'Abandoned: the conversation went on before this call was started. It was not run.'
const UNANSWERED = 'Abandoned: nobody decided on this call in time. It was not run.'
const NESTED_ABANDONED = 'Abandoned: nobody decided on what this call had to wait for.'

function loggedCall({ item, askedAt, intent, redacted }: UnsettledCall): AskedCall {
  const { id, tool, args, rawArgs } = item
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
    createdAt: askedAt,
    ...(intent?.editOf !== undefined && { editOf: intent.editOf }),
    ...(redacted && { redacted }),
  }
}

/**
 * A call whose handler may have run: repeated only where that is safe, else surfaced as in doubt. One whose
 * inner turn still waits for a decision stays as it is; nobody goes on with the inner turn of any other.
 */
async function finishStarted(
  turn: Turn,
  asked: AskedCall,
  intent: Intent,
  policy: UnsettledPolicy,
): Promise<void> {
  const nested = nestedGates(turn, asked.id)
  const tool = turn.ctx.tools.get(asked.request.tool)
  const inside = settingsInside(tool, turn.settings)
  if (policy !== 'abandon' && (await isHeldUp(nested, inside))) return
  await passOn(turn, nested, inside)
  const name = conversationInside(turn.conversation.id, intent.idempotencyKey)
  if (policy === 'abandon') {
    const hasDoubts = await abandonNested(turn, inside, name, abandonAll)
    if (nested.length === 0) return endStarted(turn, asked, IN_DOUBT)
    const text = nested.every(isDecided) ? NO_RESULT : NESTED_ABANDONED
    if (hasDoubts) return endStarted(turn, asked, doubtfulEnd(text))
    return endCall(turn, asked, 'abandoned', text)
  }
  const abandon = () => abandonLeft(turn, inside, name, abandonAll)
  const next = await afterStart(turn, asked, tool, intent)
  if ('asked' in next) return runAdmitted(turn, { ...next, abandon })
  await endStarted(turn, asked, next)
  await abandon()
}

/** Ends every call of a turn that nobody goes on with. */
export const abandonAll = (inner: Turn) => finishUnsettled(inner, 'abandon')

/** What is to be run once more, or how the call ends without that. */
async function afterStart(
  turn: Turn,
  asked: AskedCall,
  tool: Tool | undefined,
  intent: Intent,
): Promise<AdmittedCall | CallEnd> {
  if (tool === undefined) return IN_DOUBT
  const found = await reconcile(turn, tool, intent.idempotencyKey)
  if (found?.happened === 'yes') return happenedEnd(turn, tool, found.output)
  const mayHaveRun = found?.happened !== 'no'
  // What was not stored cannot be sent again.
  if (asked.redacted !== undefined) {
    return mayHaveRun ? IN_DOUBT : { settlement: 'aborted', results: new Tokenizable(NOT_HAPPENED) }
  }
  const isSafe = !mayHaveRun || (mayRepeat(intent.effect) && tool.effect === intent.effect)
  const input = isSafe ? await repeatedInput(turn, asked, tool, intent) : undefined
  return input === undefined ? IN_DOUBT : { asked, tool, ...input, intent, mayHaveRun }
}

async function endStarted(turn: Turn, asked: AskedCall, end: CallEnd): Promise<void> {
  const call = recordCall(turn, asked, end)
  await settle(turn, call, end.settlement === 'in-doubt' ? [tellDoubt(turn, call)] : [])
}

/** What the handler gets once more; nothing when the arguments no longer fit, or a decision no longer holds. */
async function repeatedInput(
  turn: Turn,
  { request: { args } }: AskedCall,
  tool: Tool,
  { gateId, editOf }: Intent,
): Promise<{ readonly value: unknown } | undefined> {
  const { store } = turn.settings
  const gate = gateId && (await ofStore(() => store.gate(turn.conversation.id, gateId)))
  if (gate && gateDigest(tool, gate.args ?? {}) !== gate.digest) return undefined
  if (gate && editOf === undefined) return approvedInput(tool, args, gate.args ?? {})
  const validation = await toolShortcuts().validate(tool, args)
  return validation.ok ? { value: validation.value } : undefined
}

/** A call behind a gate; one that nobody has decided on waits, unless there is somebody to ask. */
async function finishGated(
  turn: Turn,
  asked: AskedCall,
  gate: Gate,
  policy: UnsettledPolicy,
): Promise<void> {
  const { approve } = turn.settings
  const close = (outcome: 'consumed' | 'expired' | 'abandoned') => [closeGate(turn, gate, outcome)]
  if (gate.state === 'pending') {
    if (policy === 'abandon')
      await endCall(turn, asked, 'abandoned', UNANSWERED, close('abandoned'))
    else if (approve !== undefined) await approveInProcess(turn, asked, gate, approve)
  } else if (gate.state === 'expired') {
    await endCall(turn, asked, 'abandoned', UNANSWERED, close('expired'))
  } else if (policy === 'abandon' && gate.state !== 'denied') {
    await endCall(turn, asked, 'abandoned', NOT_STARTED, close('abandoned'))
  } else if (policy === 'abandon') {
    await endCall(turn, asked, 'denied', denialText(gate), close('consumed'))
  } else {
    await useDecision(turn, asked, gate)
  }
}

/** A `read` that was to run and left no trace is started; anything else would have left its intent. */
async function startNow(turn: Turn, asked: AskedCall): Promise<void> {
  const tool = turn.ctx.tools.get(asked.request.tool)
  const validation = tool && (await toolShortcuts().validate(tool, asked.request.args))
  if (tool?.effect !== 'read' || validation?.ok !== true || asked.redacted !== undefined) {
    return endCall(turn, asked, 'abandoned', NO_RESULT)
  }
  const { value } = validation
  if (await needsGate(turn, asked, tool, value, turn.conversation.taint)) {
    return endCall(turn, asked, 'abandoned', NO_RESULT)
  }
  await runAdmitted(turn, { asked, tool, value })
}
