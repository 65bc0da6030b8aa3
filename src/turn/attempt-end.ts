import { isBobbinError } from '../core/error.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { AttemptEnd } from './call-attempt.ts'
import { errorText } from './error-text.ts'

/** A handler that stops because it was told to is not late. */
export function isObedience(error: unknown, reason: unknown): boolean {
  const thrown = isBobbinError(error, 'E_TOOL_DOWNSTREAM_ERROR') ? error.cause : error
  const name = (thrown as { readonly name?: unknown } | null)?.name
  return thrown === reason || name === 'AbortError' || name === 'TimeoutError'
}

/** The end of a call that was given up: in doubt when it must not repeat and did not report. */
export function gaveUpEnd(
  { effect }: Tool,
  settlement: 'timed-out' | 'aborted',
  text: string,
): AttemptEnd {
  const isSure = effect === 'read' || effect === 'idempotent'
  if (isSure) return { settlement, results: new Tokenizable(text) }
  const doubt = `${text} It is not known whether it took effect. Do not repeat it blindly; check first.`
  return { settlement: 'in-doubt', results: new Tokenizable(doubt) }
}

/** The end of a call whose handler, or whose result, failed. */
export function failedEnd(error: unknown, clean: (text: string) => string): AttemptEnd {
  const text = errorText(error, clean)
  const results = new Tokenizable(isBobbinError(error) ? text : `The call failed: ${text}`)
  return { settlement: 'failed', results }
}
