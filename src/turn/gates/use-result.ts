import type { ApprovedBy } from '../../records/approved-by.ts'
import { EFFECT_UNKNOWN } from '../../records/effect-unknown.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { Gate } from '../../store/gate.ts'
import { originalPlace } from '../../store/rows/gate-row.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import { Tool } from '../../tools/tool.ts'
import { mayRepeat } from '../../tools/tool-options.ts'
import { intentOf } from '../call/admit.ts'
import type { CallScope } from '../call/call-scope.ts'
import { closeGate } from '../call/gate-policy.ts'
import { recordOf, settlementOf } from '../call/record.ts'
import { type GivenResult, type NextStep, REST, type RunStep } from '../call/step.ts'
import { supersedingCall } from '../call/superseding-call.ts'
import type { AskedCall, StartedState } from '../log/call-state.ts'

/** The scope of a call, and what was given in this process as the results of calls, by gate. */
export interface ResultScope extends CallScope {
  readonly opened: { readonly outputs?: ReadonlyMap<string, unknown> | undefined }
}

const CONTINUED = 'the conversation continued before its result came.'
const EXPIRED = 'its result did not come in time.'
export const ABORTED = 'the turn was aborted before its result came.'

/** Whether a gate asks for the result of an external call of this conversation. */
export const asksForResult = (gate: Gate): boolean =>
  gate.kind === 'result' && originalPlace(gate) === undefined

/** The next step of an external call. Without a result, its effect is unknown. */
export function useResult(
  scope: ResultScope,
  state: StartedState,
  gate: Gate,
  isGivenUp: boolean,
): NextStep {
  const { call, intent } = state
  if (gate.state === 'pending') {
    return isGivenUp ? unreportedStep(scope, state, gate, CONTINUED) : REST
  }
  if (gate.state === 'expired') return unreportedStep(scope, state, gate, EXPIRED)
  if (gate.decision?.verdict !== 'answered') {
    const results = new Tokenizable(declinedText(gate))
    const record = recordOf(scope, call, { settlement: 'denied', results, executedBy: 'external' })
    return { do: 'end', call, facts: [closeGate(gate, 'consumed'), ...settlementOf(record)] }
  }
  if (gate.decision.decidedAt < gate.expiresAt) return reportStep(scope, call, gate, intent)
  // It came too late: the doubt that was true until then is recorded first.
  const doubt = unreported(scope, state, EXPIRED)
  return { ...supersedingStep(scope, doubt, gate), facts: settlementOf(doubt) }
}

/** The next step for a report about a call that has its record: it settles a doubt, and changes nothing else. */
export function useLateResult(scope: ResultScope, gate: Gate): NextStep {
  const doubt = scope.log.state.doubts.find(({ id }) => id === gate.toolCallId)
  if (doubt === undefined) return { ...REST, facts: [closeGate(gate, 'consumed', LATE)] }
  return supersedingStep(scope, doubt, gate, LATE)
}

/** The gate was closed when its call was given up. */
const LATE = { late: true } as const

function supersedingStep(
  scope: ResultScope,
  doubt: ToolCall,
  gate: Gate,
  late?: { readonly late: true },
): RunStep {
  const step = reportStep(scope, supersedingCall(scope, doubt), gate, doubt)
  const closing = closeGate(gate, 'consumed', late)
  return { ...step, given: { ...step.given, closing, supersedes: doubt.id } }
}

/** Ends a call that got no result. */
export function unreportedStep(
  scope: CallScope,
  state: StartedState,
  gate: Gate,
  why: string,
): NextStep {
  const record = unreported(scope, state, why)
  const closing = closeGate(gate, gate.state === 'expired' ? 'expired' : 'abandoned')
  return { do: 'end', call: state.call, facts: [closing, ...settlementOf(record)] }
}

function unreported(scope: CallScope, { call, intent }: StartedState, why: string): ToolCall {
  const isSafe = mayRepeat(intent.effect)
  const settlement = isSafe ? 'abandoned' : 'in-doubt'
  const text = isSafe ? `Abandoned: ${why}` : `In doubt: ${why} ${EFFECT_UNKNOWN}`
  const results = new Tokenizable(text)
  return recordOf(scope, call, { settlement, results, executedBy: 'external' })
}

/** A reported result goes through middleware, scrubber and checks, as the output of a handler does. */
function reportStep(
  scope: ResultScope,
  call: AskedCall,
  gate: Gate,
  { approvedBy }: { readonly approvedBy?: ApprovedBy | undefined },
): RunStep & { readonly given: GivenResult } {
  const { decision, args = call.item.args } = gate
  const { tool: name } = call.item
  const tool = scope.toolOf(name) ?? goneTool(name)
  const { outputs } = scope.opened
  const reported: GivenResult['reported'] = outputs?.has(gate.id)
    ? { output: outputs.get(gate.id) }
    : decision?.error !== undefined
      ? { error: decision.error }
      : { output: decision?.value ?? null }
  const given = { reported, closing: closeGate(gate, 'consumed') }
  // Its intent is in the log; nothing starts here.
  const intent = { ...intentOf(scope, call, tool, 'developer'), ...(approvedBy && { approvedBy }) }
  return { do: 'run', call, gate, intent, tool, value: args, given, mayHaveRun: true, facts: [] }
}

/** Stands for a tool that was removed: a report about its call still counts. */
const goneTool = (name: string): Tool =>
  new Tool({
    name,
    description: 'Removed.',
    inputSchema: { type: 'object' },
    external: true,
  })

function declinedText({ decision }: Gate): string {
  const why = decision?.comment ? ` The reason given: ${decision.comment}` : ''
  return `Denied: who was to execute this call declined it.${why}`
}
