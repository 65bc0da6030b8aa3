import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import { isInstanceOf } from '../core/brand.ts'
import { record } from '../core/record.ts'
import { restoreResults } from './tool-call-results.ts'
import { type RawToolCall, toolCallSchema } from './tool-call-schema.ts'
import { fillUsual } from './usual-call.ts'

export { type RawToolCall, SETTLEMENTS, type Settlement } from './tool-call-schema.ts'

/** One settled tool call: immutable, validated, named by content. */
export class ToolCall extends record(
  'ToolCall',
  'E_INVALID_INITIAL_TOOL_CALL_VALUE',
  toolCallSchema,
  fillUsual,
) {
  static isToolCall(value: unknown): value is ToolCall {
    return isInstanceOf(value, 'ToolCall')
  }

  /** Restores a stored record; artifacts and media are found again in `context.spool`. */
  static fromJSON(json: unknown, context: RestoreContext = {}): ToolCall {
    return new ToolCall(restoreResults(json, context) as RawToolCall)
  }
}
