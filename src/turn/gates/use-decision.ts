import { checksum } from '../../core/checksum.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { sameJson } from '../../core/json/same-json.ts'
import { TRUST_TIERS } from '../../core/trust.ts'
import type { Gate } from '../../store/gate.ts'
import type { Tool } from '../../tools/tool.ts'
import { intentOf } from '../call/admit.ts'
import type { CallScope } from '../call/call-scope.ts'
import { externalStep } from '../call/external-call.ts'
import { closeGate, denialText, gateDigest } from '../call/gate-policy.ts'
import { effectiveArguments, endStep } from '../call/record.ts'
import type { EndStep, NextStep, ReadyCall, RunStep, WaitStep } from '../call/step.ts'
import type { AskedCall } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import { type Approve, decideGate, type GateHolder } from './gate-answer.ts'
import { toolOf } from './undo-tool.ts'

const STALE =
  'Refused: the tool was removed, or its definition or arguments changed, after this call was approved. It was not run.'
const UNFIT = 'Refused: the approved arguments do not fit the tool. It was not run.'
export const NOT_STORED =
  'Refused: the arguments of this call were not stored, so that it could not wait for a decision. It was not run.'
const TOO_LATE = 'Refused: the decision on this call no longer held when it was to be used.'

/**
 * The next step of a call whose gate is decided. A decision is used once: one commit closes the gate and stores the intent.
 * `ready` has the arguments that this process validated already.
 */
export async function useDecision(
  scope: CallScope,
  call: AskedCall,
  gate: Gate,
  ready?: ReadyCall,
): Promise<NextStep> {
  const closing = closeGate(gate, 'consumed')
  const refuse = (text: string) => endStep(scope, call, 'refused', text, [closing])
  const { args = {}, context, decision, digest } = gate
  if (decision?.verdict === 'denied') {
    return endStep(scope, call, 'denied', denialText(gate), [closing])
  }
  if (call.redacted !== undefined) return refuse(NOT_STORED)
  const tool = await toolOf(scope, call)
  const isBound = context?.['checksum'] === call.checksum
  if (tool === undefined || !isBound || gateDigest(tool, args) !== digest) return refuse(STALE)
  if (decision?.verdict === 'edited') {
    const edited = withArguments(scope, call, decision.args ?? {})
    const checked = await tool.validate(edited.item.args)
    if (!checked.ok) return refuse(UNFIT)
    const run = runStep(scope, edited, gate, { tool, value: checked.value })
    const text = `A person changed the arguments; the call ran as \`${edited.item.id}\`.`
    // The edited call gets a record of its own; the original settles as edited.
    const original = endStep(scope, call, 'edited', text)
    return begun(scope, run, gate, [closing, ...original.facts])
  }
  const input = ready ?? (await approvedInput(tool, call.item.args, args))
  if (input === undefined) return refuse(STALE)
  const run = runStep(scope, call, gate, { tool, value: input.value, note: ready?.note })
  return begun(scope, run, gate, [closing])
}

/** The runner does not execute the calls of external tools. */
function begun(scope: CallScope, run: RunStep, gate: Gate, before: readonly Fact[]): NextStep {
  const { call, intent } = run
  if (!run.tool.external) return { ...run, facts: [...before, ...run.facts] }
  return { ...externalStep(scope, call, run, intent, before), approved: { call, gate } }
}

function runStep(scope: CallScope, call: AskedCall, gate: Gate, ready: ReadyCall): RunStep {
  // Judged as it was when it was asked for, whatever the conversation has seen since.
  const taint = TRUST_TIERS.find((tier) => tier === gate.context?.['taint']) ?? 'developer'
  const { decidedBy = 'unknown' } = gate.decision ?? {}
  const approvedBy = { gate: gate.id, decidedBy }
  const intent = { ...intentOf(scope, call, ready.tool, taint), gateId: gate.id, approvedBy }
  return { do: 'run', call, gate, intent, ...ready, facts: [{ kind: 'intent', intent }] }
}

/** The end of a call whose approval expired just before it was used. */
export const tooLateStep = (scope: CallScope, call: AskedCall, gate: Gate): EndStep =>
  endStep(scope, call, 'refused', TOO_LATE, [closeGate(gate, 'expired')])

/**
 * The handler's input for arguments that were approved as `approved`. A default that changes with each validation, such as a
 * random one, runs as it was approved. Undefined when validation no longer gives the approved arguments.
 */
export async function approvedInput(
  tool: Tool,
  asked: JsonObject,
  approved: JsonObject,
): Promise<{ readonly value: unknown } | undefined> {
  for (const input of [asked, approved]) {
    const checked = await tool.validate(input)
    if (checked.ok && sameJson(effectiveArguments(input, checked.value), approved)) {
      return { value: checked.value }
    }
  }
  return undefined
}

function withArguments(scope: CallScope, call: AskedCall, args: JsonObject): AskedCall {
  const { item, askedAt } = call
  const id = scope.log.state.ids.claim(item.id)
  // What the wire keeps of the call has the arguments that the person replaced.
  const { rawArgs: _, fault: __, providerData: ___, ...rest } = item
  return {
    item: { ...rest, id, args },
    checksum: checksum(item.tool, args),
    askedAt,
    editOf: item.id,
  }
}

const NO_DECISION =
  'Denied: no valid decision on this call was received. It was not run. Do not ask for it again.'

/**
 * Asks `approve` in this process. The gate is opened, decided and used like any other: the log is the same, and if the
 * process dies meanwhile, the gate can still be answered.
 */
export async function approveHere(
  scope: CallScope,
  { call, gate, ready }: WaitStep,
  holder: GateHolder & { readonly approve: Approve },
): Promise<NextStep> {
  const { interruption, events, log } = scope
  try {
    interruption.signal.throwIfAborted()
    const answer = await interruption.watch.orAborted((async () => holder.approve(gate))())
    const given = typeof answer === 'boolean' ? { approve: answer, decidedBy: 'approve' } : answer
    const decided = await decideGate(holder, log.id, gate.id, given)
    // Use the gate as it was shown: in the store, a redaction may have removed parts of it.
    const { args, context } = gate
    const asked = { ...decided, ...(args && { args }), ...(context && { context }) }
    return await useDecision(scope, call, asked, ready)
  } catch (error) {
    const closing = [closeGate(gate, 'abandoned')]
    if (interruption.signal.aborted) {
      const text = 'The turn was aborted before this call was approved. It was not run.'
      return endStep(scope, call, 'aborted', text, closing)
    }
    events.error(error, 'approve', call.item.id)
    return endStep(scope, call, 'denied', NO_DECISION, closing)
  }
}
