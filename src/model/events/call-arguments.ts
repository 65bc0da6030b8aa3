import { isBobbinError } from '../../core/error/error.ts'
import { normalizeArguments } from '../../core/json/strict-json.ts'
import { unparsedArguments } from '../../core/unparsed-arguments.ts'
import { valueText } from '../../core/value-text.ts'
import type { CallItem } from '../../records/history-item.ts'

/** The part of a call that its arguments decide. */
export type CallArguments = Pick<CallItem, 'args' | 'rawArgs' | 'fault'>

/**
 * Arguments as the wire gave them (text or a parsed object) as strict JSON. They are never repaired: text that is
 * not strict JSON becomes `{ $unparsed }` with the text and the reason, so that it can be refused.
 */
export function callArguments(received: unknown): CallArguments {
  // Several wires send nothing at all, or an empty text, for a call without arguments.
  if (received === undefined || received === null || received === '') return { args: {} }
  try {
    return { args: normalizeArguments(received) }
  } catch (error) {
    if (!isBobbinError(error, 'E_INVALID_ARGUMENTS')) throw error
    const rawArgs = typeof received === 'string' ? received : textOf(received)
    return { args: unparsedArguments(rawArgs), rawArgs, fault: error.data }
  }
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? valueText(value)
  } catch {
    return valueText(value) // a cycle or a 20,000-deep value has no JSON text
  }
}
