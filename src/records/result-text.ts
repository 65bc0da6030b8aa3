import { wrongInput } from '../core/error/wrong-input.ts'
import { Tokenizable } from '../text/tokenizable.ts'

/**
 * The text of a call that an artifact tool answered or that ended in an error. An event has it as a string, a record as a
 * `Tokenizable`: this reads both. Undefined if the results are artifacts or media, or are not there yet.
 */
export function resultText(call: { readonly results?: unknown }): string | undefined {
  if (typeof call !== 'object' || call === null) {
    throw wrongInput('resultText', 'call', 'must be a `toolCall` event or a `ToolCall`')
  }
  const { results } = call
  if (typeof results === 'string') return results
  return Tokenizable.isTokenizable(results) ? results.text : undefined
}
