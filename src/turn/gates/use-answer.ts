import type { Gate } from '../../store/gate.ts'
import { originalPlace } from '../../store/rows/gate-row.ts'
import type { CallScope } from '../call/call-scope.ts'
import { closeGate, questionDigest } from '../call/gate-policy.ts'
import { endStep } from '../call/record.ts'
import { type NextStep, REST } from '../call/step.ts'
import type { StartedState } from '../log/call-state.ts'
import { toolOf } from './undo-tool.ts'
import { approvedInput, NOT_STORED } from './use-decision.ts'

const UNANSWERED = 'Abandoned: the question of this call was not answered in time.'
const LEFT = 'Abandoned: the conversation continued before this call could use its answer.'
const STALE =
  'Refused: the tool was removed, or its definition or arguments changed, after this call asked a person.'

/** Whether a gate is a question that the handler of the call itself asked. */
export const isQuestion = (gate: Gate): boolean =>
  gate.from === 'runner' &&
  (gate.kind === 'input' || gate.kind === 'link') &&
  originalPlace(gate) === undefined

/**
 * The next step of a call whose handler asked a person and returned. With an answer, the handler runs again under the
 * same intent: its key is the same.
 */
export async function useAnswer(
  scope: CallScope,
  { call, intent }: StartedState,
  gate: Gate,
  isGivenUp: boolean,
): Promise<NextStep> {
  const { args = {}, context, decision } = gate
  if (gate.state === 'pending') {
    if (!isGivenUp) return REST
    return endStep(scope, call, 'abandoned', UNANSWERED, [closeGate(gate, 'abandoned')])
  }
  if (gate.state === 'expired') {
    return endStep(scope, call, 'abandoned', UNANSWERED, [closeGate(gate, 'expired')])
  }
  const closing = closeGate(gate, 'consumed')
  const isDeclined = decision?.verdict !== 'answered'
  const isOver = isGivenUp || context?.['runOnDecline'] !== true
  if (isDeclined && isOver) {
    return endStep(scope, call, 'denied', declinedText(gate), [closing])
  }
  if (isGivenUp) return endStep(scope, call, 'abandoned', LEFT, [closeGate(gate, 'abandoned')])
  const refuse = (text: string) => endStep(scope, call, 'refused', text, [closing])
  if (call.redacted !== undefined) return refuse(NOT_STORED)
  const tool = await toolOf(scope, call)
  if (tool === undefined || questionDigest(tool, gate) !== gate.digest) return refuse(STALE)
  const input = await approvedInput(tool, call.item.args, args)
  if (input === undefined) return refuse(STALE)
  const state = context?.['state']
  const answer = gate.kind === 'link' ? { done: true as const } : { value: decision?.value }
  const given = {
    ...(isDeclined ? { declined: true as const } : answer),
    ...(state !== undefined && { state }),
  }
  const ready = { tool, value: input.value, input: given }
  return { do: 'run', call, gate, intent, ...ready, facts: [closing] }
}

function declinedText({ decision }: Gate): string {
  const why = decision?.comment ? ` The reason given: ${decision.comment}` : ''
  return `Denied: a person declined what this call asked for.${why}`
}
