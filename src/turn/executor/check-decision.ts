import { BobbinError } from '../../core/error/error.ts'
import { readWireReference, type WireReference } from '../../core/wire-reference.ts'
import type { CallRequest, ExecutorDecision } from './executor.ts'

/** Refuses an invalid decision before any of it runs: an executor may be a remote service. */
export function checkDecision(decision: ExecutorDecision): void {
  if (typeof decision !== 'object' || decision === null) {
    throw invalid('', 'must be an object with `calls` or an `answer`')
  }
  if ('answer' in decision) {
    if (typeof decision.answer !== 'string') throw invalid('answer', 'must be a string')
  } else if (!Array.isArray(decision.calls)) {
    throw invalid('calls', 'must be a list, or there must be an `answer`')
  }
  const { requestDigest } = decision as { readonly requestDigest?: unknown }
  const isDigest = typeof requestDigest === 'string' && /^[0-9a-f]{64}$/.test(requestDigest)
  if (requestDigest !== undefined && !isDigest) {
    throw invalid('requestDigest', 'must be a SHA-256 in lower-case hex, or be left out')
  }
  const requests: readonly unknown[] = callsOf(decision)
  for (let at = 0; at < requests.length; at++) checkRequest(requests[at], at)
}

/** The calls that a decision asks for. A decision with an answer may have an empty list, or none. */
export const callsOf = (decision: ExecutorDecision): readonly CallRequest[] =>
  ('calls' in decision && decision.calls) || NO_CALLS

const NO_CALLS: readonly CallRequest[] = []

/** A call that no record can hold must not run: it could never settle. */
function checkRequest(given: unknown, at: number): void {
  if (typeof given !== 'object' || given === null)
    throw invalid(`calls[${at}]`, 'must be an object')
  const { id, tool, wire, inputId } = given as Partial<CallRequest>
  if (typeof tool !== 'string') throw invalid(`calls[${at}].tool`, 'must name a tool')
  if (id !== undefined && id !== null && typeof id !== 'string') {
    throw invalid(`calls[${at}].id`, 'must be a string, or be left out')
  }
  if (inputId !== undefined && typeof inputId !== 'string') {
    throw invalid(`calls[${at}].inputId`, 'must be a string, or be left out')
  }
  if (wire !== undefined && (typeof wire !== 'object' || wire === null)) throw invalidWire(tool)
}

/** The origin of a call, as its record will show it. */
export function callWire(tool: string, given: WireReference): WireReference {
  const wire = readWireReference(given)
  if (wire === undefined) throw invalidWire(tool)
  return wire
}

const invalidWire = (tool: string) =>
  invalid('wire', `on a call of \`${tool}\` must be a wire reference, or be left out`)

function invalid(path: string, rule: string): BobbinError {
  const what =
    path === '' ? 'The decision of the executor' : `\`${path}\` in the decision of the executor`
  const message = `${what} ${rule}. None of its calls were run.`
  return new BobbinError('E_INVALID_EXECUTOR_DECISION', message, { path, rule })
}
