import { isBobbinError } from '../core/error.ts'
import { EFFECT_UNKNOWN } from '../records/effect-unknown.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import { mayRepeat } from '../tools/tool-options.ts'
import { errorText } from './error-text.ts'

/** How an attempt at a call ended. */
export interface AttemptEnd {
  readonly settlement: Settlement
  readonly results: ToolCallResults
}

/** How a call ends that the turn's abort kept from starting. */
export const NOT_STARTED: AttemptEnd = {
  settlement: 'aborted',
  results: new Tokenizable('The turn was aborted before the call started. It was not run.'),
}

/** A handler that stops because it was told to is not late. */
export function isObedience(error: unknown, reason: unknown): boolean {
  const thrown = isBobbinError(error, 'E_TOOL_DOWNSTREAM_ERROR') ? error.cause : error
  const name = nameOf(thrown)
  return thrown === reason || name === 'AbortError' || name === 'TimeoutError'
}

/** Anything can be thrown, also what throws when it is looked at; nobody would hear that any more. */
function nameOf(thrown: unknown): unknown {
  try {
    return (thrown as { readonly name?: unknown } | null | undefined)?.name
  } catch {
    return undefined
  }
}

/** The end of a call that was given up: in doubt when it must not repeat and did not report. */
export function gaveUpEnd(
  { effect }: Tool,
  settlement: 'timed-out' | 'aborted',
  text: string,
): AttemptEnd {
  if (mayRepeat(effect)) return { settlement, results: new Tokenizable(text) }
  return { settlement: 'in-doubt', results: new Tokenizable(`${text} ${EFFECT_UNKNOWN}`) }
}

/** What the model reads of a call in whose turn another one ended in doubt. */
export const DOUBT_INSIDE = `A call inside it began and did not report. ${EFFECT_UNKNOWN}`

/** The end of a call that was given up, and whose inner turn left calls in doubt when it wound itself up. */
export function doubtfulEnd(text: string): AttemptEnd {
  return { settlement: 'in-doubt', results: new Tokenizable(`${text} ${DOUBT_INSIDE}`) }
}

/** The end of a call whose handler, or whose result, failed. */
export function failedEnd(error: unknown, clean: (text: string) => string): AttemptEnd {
  const text = errorText(error, clean)
  const results = new Tokenizable(isBobbinError(error) ? text : `The call failed: ${text}`)
  return { settlement: 'failed', results }
}
