import { BobbinError } from '../core/error.ts'
import { frozenWire, isWireReference, type WireReference } from '../core/wire-reference.ts'
import type { CallRequest, Decision } from './executor.ts'

/** Refuses what no turn can act on, before it acts on any of it: an executor may be anybody's service. */
export function checkDecision(decision: Decision): void {
  if (typeof decision !== 'object' || decision === null) {
    throw invalid('', 'must be an object with `calls` or an `answer`')
  }
  if ('answer' in decision) {
    if (typeof decision.answer !== 'string') throw invalid('answer', 'must be a string')
  } else if (!Array.isArray(decision.calls)) {
    throw invalid('calls', 'must be a list, or there must be an `answer`')
  }
  const requests: readonly unknown[] = callsOf(decision)
  for (let at = 0; at < requests.length; at++) checkRequest(requests[at], at)
}

/** The calls that a decision asks for; one with an answer may say in so many words that there are none. */
export const callsOf = (decision: Decision): readonly CallRequest[] =>
  ('calls' in decision && decision.calls) || NO_CALLS

const NO_CALLS: readonly CallRequest[] = []

/** What a record would refuse must not run: nobody could settle it. */
function checkRequest(given: unknown, at: number): void {
  if (typeof given !== 'object' || given === null)
    throw invalid(`calls[${at}]`, 'must be an object')
  const { id, tool, wire } = given as Partial<CallRequest>
  if (typeof tool !== 'string') throw invalid(`calls[${at}].tool`, 'must name a tool')
  if (id !== undefined && id !== null && typeof id !== 'string') {
    throw invalid(`calls[${at}].id`, 'must be a string, or be left out')
  }
  if (wire !== undefined && (typeof wire !== 'object' || wire === null)) throw invalidWire(tool)
}

/** Where a call comes from, as its record will say it. */
export function callWire(tool: string, given: WireReference): WireReference {
  const wire = frozenWire(given)
  if (!isWireReference(wire)) throw invalidWire(tool)
  return wire
}

const invalidWire = (tool: string) =>
  invalid('wire', `on a call of \`${tool}\` must be a wire reference, or be left out`)

function invalid(path: string, rule: string): BobbinError {
  const what =
    path === '' ? 'What the executor decided' : `\`${path}\` of what the executor decided`
  const message = `${what} ${rule}. None of its calls were run.`
  return new BobbinError('E_INVALID_EXECUTOR_DECISION', message, { path, rule })
}
