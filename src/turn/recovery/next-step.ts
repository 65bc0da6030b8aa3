import type { Gate } from '../../store/gate.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { Tool } from '../../tools/tool.ts'
import { mayRepeat } from '../../tools/tool-options.ts'
import { intentOf } from '../call/admit.ts'
import { doubtfulEnd, IN_DOUBT } from '../call/attempt.ts'
import {
  closeGate,
  definitionDigest,
  denialText,
  gateDigest,
  needsGate,
} from '../call/gate-policy.ts'
import type { LeftInside } from '../call/inner-turn.ts'
import { type CallEnd, endStep, recordOf, settlementOf } from '../call/record.ts'
import { type NextStep, REST } from '../call/step.ts'
import { isQuestion, useAnswer } from '../gates/use-answer.ts'
import { approvedInput, useDecision } from '../gates/use-decision.ts'
import { asksForResult, type ResultScope, useResult } from '../gates/use-result.ts'
import { askStore } from '../limits/failure.ts'
import type { AskedCall, OpenState, StartedState } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import { happenedEnd, NOT_HAPPENED, reconcile } from './reconcile.ts'

/** Whether a turn continues the open calls of the turn before, or ends them. */
export type OpenPolicy = 'continue' | 'abandon'

/** The scope of a call, and the gates that were open when the turn was opened. */
export interface RecoveryScope extends ResultScope {
  /** Read when the conversation was opened. */
  readonly opened: ResultScope['opened'] & { readonly gates: readonly Gate[] }
}

// A `read` may have run without a trace, and an inner turn may have been decided on and not continued.
const NO_RESULT = 'Abandoned: the conversation continued before this call had a result.'
const NOT_STARTED =
  'Abandoned: the conversation continued before this call was started. It was not run.'
const UNANSWERED = 'Abandoned: this call was not decided in time. It was not run.'
const NESTED_ABANDONED = 'Abandoned: the approvals that this call waited for were not decided.'

/** The next step of a call that an earlier turn left without a record. */
export function nextStep(
  scope: RecoveryScope,
  state: OpenState,
  policy: OpenPolicy,
): Promise<NextStep> {
  switch (state.at) {
    case 'asked':
      return afterAsk(scope, state.call, policy)
    case 'waiting':
      return afterGate(scope, state.call, gateOf(scope, state.gate), policy)
    default:
      return afterStart(scope, state, policy)
  }
}

const gateOf = ({ opened }: RecoveryScope, id: string) =>
  opened.gates.find((gate) => gate.id === id)

/** Only a `read` can have started without an intent, so only a `read` may run now. */
async function afterAsk(
  scope: RecoveryScope,
  call: AskedCall,
  policy: OpenPolicy,
): Promise<NextStep> {
  const abandoned = () => endStep(scope, call, 'abandoned', NO_RESULT)
  const tool = scope.toolOf(call.item.tool)
  if (policy === 'abandon' || tool?.effect !== 'read' || call.redacted) return abandoned()
  const checked = await tool.validate(call.item.args)
  if (!checked.ok) return abandoned()
  const { value } = checked
  const { taint } = scope.log.state
  if (await needsGate(scope, call, tool, value, taint)) return abandoned()
  const intent = intentOf(scope, call, tool, taint)
  return { do: 'run', call, tool, value, intent, isIntentLate: true, facts: [] }
}

/** A call that waited for a gate. */
async function afterGate(
  scope: RecoveryScope,
  call: AskedCall,
  gate: Gate | undefined,
  policy: OpenPolicy,
): Promise<NextStep> {
  if (gate === undefined) return endStep(scope, call, 'abandoned', NO_RESULT)
  const isGivenUp = policy === 'abandon'
  switch (gate.state) {
    case 'pending':
      if (!isGivenUp) return { do: 'wait', call, gate, facts: [] }
      return endStep(scope, call, 'abandoned', UNANSWERED, [closeGate(gate, 'abandoned')])
    case 'expired':
      return endStep(scope, call, 'abandoned', UNANSWERED, [closeGate(gate, 'expired')])
    case 'denied':
      return endStep(scope, call, 'denied', denialText(gate), [closeGate(gate, 'consumed')])
    default:
      if (!isGivenUp) return useDecision(scope, call, gate)
      return endStep(scope, call, 'abandoned', NOT_STARTED, [closeGate(gate, 'abandoned')])
  }
}

/**
 * A call whose handler may have run: it runs again only if that is safe, else it ends in doubt. If its inner turn still waits
 * for a decision, the call stays as it is.
 */
async function afterStart(
  scope: RecoveryScope,
  state: StartedState,
  policy: OpenPolicy,
): Promise<NextStep> {
  const { call } = state
  const held = state.at === 'held' ? state.gates : []
  const gates = held.flatMap((id) => gateOf(scope, id) ?? [])
  const external = gates.find(asksForResult)
  if (external !== undefined) return useResult(scope, state, external, policy === 'abandon')
  const question = gates.find(isQuestion)
  if (question !== undefined) return useAnswer(scope, state, question, policy === 'abandon')
  const left = scope.inner.leftIn(state, gates)
  if (policy === 'continue' && (await left.isHeldUp())) return REST
  const passedOn = await left.passOn()
  if (policy === 'abandon') return givenUpStep(scope, call, left, passedOn)
  const next = await secondTry(scope, state)
  if ('settlement' in next) return ended(scope, call, next, passedOn, left)
  return { ...next, left, facts: passedOn }
}

async function givenUpStep(
  scope: RecoveryScope,
  call: AskedCall,
  left: LeftInside,
  passedOn: readonly Fact[],
): Promise<NextStep> {
  const hasDoubts = await left.abandon()
  if (left.isDecided === undefined) return ended(scope, call, IN_DOUBT, passedOn)
  const text = left.isDecided ? NO_RESULT : NESTED_ABANDONED
  if (hasDoubts) return ended(scope, call, doubtfulEnd(text), passedOn)
  return ended(scope, call, { settlement: 'abandoned', results: new Tokenizable(text) }, passedOn)
}

function ended(
  scope: RecoveryScope,
  call: AskedCall,
  end: CallEnd,
  more: readonly Fact[],
  left?: LeftInside,
): NextStep {
  const facts = [...more, ...settlementOf(recordOf(scope, call, end))]
  return { do: 'end', call, facts, ...(left && { left }) }
}

/** The step that runs the call again, or its end if it must not run again. */
async function secondTry(
  scope: RecoveryScope,
  { call, intent }: StartedState,
): Promise<(NextStep & { do: 'run' }) | CallEnd> {
  const tool = scope.toolOf(call.item.tool)
  if (tool === undefined) return IN_DOUBT
  const found = await reconcile(scope, tool, intent.idempotencyKey)
  if (found?.happened === 'yes') return happenedEnd(scope, tool, found.output)
  const mayHaveRun = found?.happened !== 'no'
  const isSafe = !mayHaveRun || (mayRepeat(intent.effect) && tool.effect === intent.effect)
  // Redacted arguments were not stored, so the call cannot run again.
  const canRun = isSafe && call.redacted === undefined
  const input = canRun ? await repeatedInput(scope, call, tool, intent) : undefined
  if (input === undefined) {
    return mayHaveRun ? IN_DOUBT : { settlement: 'aborted', results: new Tokenizable(NOT_HAPPENED) }
  }
  return { do: 'run', call, tool, value: input.value, intent, mayHaveRun, facts: [] }
}

/** The handler's input for the second run; undefined when the arguments or the approval no longer hold. */
async function repeatedInput(
  { settings: { store }, log }: RecoveryScope,
  { item: { args } }: AskedCall,
  tool: Tool,
  { gateId, editOf, covered }: StartedState['intent'],
): Promise<{ readonly value: unknown } | undefined> {
  if (covered && definitionDigest(tool) !== covered.definition) return undefined
  const gate = gateId && (await askStore(() => store.gate(log.id, gateId)))
  if (gate && gateDigest(tool, gate.args ?? {}) !== gate.digest) return undefined
  if (gate && editOf === undefined) return approvedInput(tool, args, gate.args ?? {})
  const checked = await tool.validate(args)
  return checked.ok ? { value: checked.value } : undefined
}
