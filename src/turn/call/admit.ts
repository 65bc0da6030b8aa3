import type { JsonObject } from '../../core/json/json.ts'
import type { TrustTier } from '../../core/trust.ts'
import type { Intent } from '../../store/entry.ts'
import { issuesText } from '../../tools/input-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'
import { HandOverTool } from '../executor/hand-over.ts'
import { errorText } from '../limits/failure.ts'
import { tooManyCalls } from '../limits/limits.ts'
import type { StopReason } from '../limits/outcome.ts'
import { repeatHint, repeatRefusal } from '../limits/repeat-guard.ts'
import type { AskedCall } from '../log/call-state.ts'
import { callNote, type Fact } from '../log/fact.ts'
import type { JudgedCall } from './ask.ts'
import type { CallScope } from './call-scope.ts'
import { externalStep } from './external-call.ts'
import { gateRequest, needsGate } from './gate-policy.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import { endStep } from './record.ts'
import { coverOf } from './standing-approval.ts'
import type { EndStep, NextStep, ReadyCall, WaitStep } from './step.ts'

/** Decides on every call of a response, in the order asked: end, wait or run. `before` counts the earlier calls of the turn. */
export async function admitCalls(
  scope: CallScope,
  calls: readonly JudgedCall[],
  before: number,
): Promise<{ readonly steps: readonly NextStep[]; readonly stop: StopReason | undefined }> {
  const { calls: most } = scope.settings.limits
  const steps: NextStep[] = []
  let stop: StopReason | undefined
  let isHandedOver = false
  for (const { call, taint } of calls) {
    if (before + steps.length >= most) stop ??= tooManyCalls(most)
    const step =
      stop !== undefined
        ? tooLate(scope, call)
        : isHandedOver
          ? endStep(scope, call, 'refused', AFTER_HAND_OVER)
          : await admitSafely(scope, call, taint)
    steps.push(step)
    if (step.do === 'run' && step.tool instanceof HandOverTool) isHandedOver = true
    if (step.do === 'end') stop ??= step.stop
  }
  return { steps, stop }
}

const AFTER_HAND_OVER =
  'Not run: a call before this one hands the conversation over. The agent that has it now may call its own tools.'

const tooLate = (scope: CallScope, call: AskedCall) =>
  endStep(scope, call, 'refused', 'The turn was stopped before this call; it was not run.')

/** Schemas and policies run code of the application: an error there refuses the call. */
async function admitSafely(scope: CallScope, call: AskedCall, taint: TrustTier): Promise<NextStep> {
  const { signal, watch } = scope.interruption
  try {
    signal.throwIfAborted()
    const step = await watch.orAborted(admit(scope, call, taint))
    signal.throwIfAborted()
    return step
  } catch (error) {
    if (signal.aborted) {
      const text = 'The turn was aborted before this call; it was not run.'
      return endStep(scope, call, 'aborted', text)
    }
    scope.events.error(error, 'admission', call.item.id)
    const text = `Refused: the call could not be checked (${errorText(error)}).`
    return endStep(scope, call, 'refused', text)
  }
}

/** Decides on one call: repeats, known tool, readable arguments, schema, gate. */
async function admit(scope: CallScope, call: AskedCall, taint: TrustTier): Promise<NextStep> {
  const { tools, guard } = scope
  const { item, checksum, fault, isUnfinished } = call
  const tool = tools.get(item.tool)
  const verdict = guard.judge(checksum, !isUnfinished && tool?.repeat === false)
  const count = guard.count(checksum)
  // A model whose responses end in the same unfinished call again and again is stopped like any repetition.
  if (isUnfinished) return refuse(scope, call, UNFINISHED, verdict === 'stop' ? count : undefined)
  if (verdict === 'stop') return refuse(scope, call, repeatRefusal(count), count)
  if (verdict === 'refuse') return refuse(scope, call, repeatRefusal(count))
  if (tool === undefined) return refuse(scope, call, unknownTool(tools))
  if (fault !== undefined) return refuse(scope, call, `${fault} Send them again, corrected.`)
  const checked = await tool.validate(item.args)
  if (!checked.ok) return refuse(scope, call, misfit(issuesText(checked.issues)))
  const { value } = checked
  const stray = tool instanceof HandOverTool ? tool.refusal(value as JsonObject) : undefined
  if (stray !== undefined) return refuse(scope, call, stray)
  const ready = { tool, value, note: verdict === 'hint' ? repeatHint(count) : undefined }
  const because = await needsGate(scope, call, tool, value, taint)
  const intent = intentOf(scope, call, tool, taint)
  if (because === undefined) return startStep(scope, call, ready, intent)
  const gate = gateRequest(scope, call, tool, value, because, taint)
  const cover = await coverOf(scope, gate)
  const wait: WaitStep = { do: 'wait', call, gate, ready, facts: [{ kind: 'gate-opened', gate }] }
  if (cover === undefined) return wait
  return { ...startStep(scope, call, ready, { ...intent, ...cover }), instead: wait }
}

/** The step of a call that needs no approval, or has one. */
function startStep(scope: CallScope, call: AskedCall, ready: ReadyCall, intent: Intent) {
  const { tool, value, note } = ready
  if (tool.external) return externalStep(scope, call, ready, intent)
  // The receipt of a background call rests on its intent, and its note stands with the receipt. A standing approval is used
  // before the call starts.
  const isIntentLate = tool.effect === 'read' && !tool.background && !intent.approvedBy
  const facts: readonly Fact[] = isIntentLate ? [] : [{ kind: 'intent', intent }]
  if (tool.background && note !== undefined) {
    const told = [...facts, callNote(call.item.id, note)]
    return { do: 'run', call, tool, value, intent, isIntentLate, facts: told } as const
  }
  return { do: 'run', call, ...ready, intent, isIntentLate, facts } as const
}

const UNFINISHED = 'The response ended before this call was finished; it was not run.'

const misfit = (issues: string) =>
  `The arguments do not fit the tool's schema: ${issues}. Correct them and call again.`

/** Refuses a call. `stopsAt` also stops the turn: the call was made that many times. */
function refuse(scope: CallScope, call: AskedCall, text: string, stopsAt?: number): EndStep {
  const step = endStep(scope, call, 'refused', text)
  if (stopsAt === undefined) return step
  const message = `The turn was stopped because one call was made ${stopsAt} times with the same arguments. Mark the tool \`repeat: false\` if it polls, or raise \`repeat.stop\`.`
  return { ...step, stop: { code: 'REPEATED_CALL', message } }
}

const NAMES_SHOWN = 30

/** Lists the known tools. Never repeats the name that was asked for: that is unchecked text of the model. */
function unknownTool({ names }: ToolRegistry): string {
  if (names.length === 0)
    return 'There is no such tool; no tools are available. Answer without one.'
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return `There is no such tool. The tools are: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}.`
}

/** The intent of a call. Its key is the same for every attempt. */
export function intentOf(
  scope: CallScope,
  call: AskedCall,
  { effect, background }: Tool,
  taint: TrustTier,
): Intent {
  const { item, checksum, askedAt, editOf } = call
  const { id, tool, args, wire } = item
  return {
    id,
    tool,
    args,
    checksum,
    idempotencyKey: idempotencyKeyOf(scope.log.id, id),
    createdAt: new Date(askedAt).toISOString(),
    ...(effect !== undefined && { effect }),
    ...(wire.api !== 'executor' && { wire }),
    ...(taint !== 'developer' && { taint }),
    ...(editOf !== undefined && { editOf }),
    ...(background && { background }),
  }
}
