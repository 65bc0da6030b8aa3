import type { JsonValue } from '../../../../core/json/json.ts'
import { elementsAt, memberAt, textAt } from '../../../../core/json/json-scan.ts'
import { asObject } from '../../../../model/wire/wire-value.ts'

/**
 * The steps of a whole response with the arguments of calls as the text that was sent: parsing has merged duplicate
 * keys in them and rounded large integers. `source` is what the response was parsed from.
 */
export function stepsWithArgumentText(
  steps: readonly JsonValue[],
  source: string | undefined,
): readonly JsonValue[] {
  if (source === undefined || !steps.some(hasArguments)) return steps
  const starts = elementsAt(source, memberAt(source, 0, 'steps'))
  return steps.map((step, index) => withArgumentText(step, source, starts[index] ?? 0))
}

/** The step of an event in the same way. */
export function eventStepWithArgumentText(step: JsonValue, source: string): JsonValue {
  return withArgumentText(step, source, memberAt(source, 0, 'step'))
}

function withArgumentText(step: JsonValue, source: string, at: number): JsonValue {
  if (!hasArguments(step)) return step
  return { ...asObject(step), arguments: textAt(source, memberAt(source, at, 'arguments')) }
}

function hasArguments(value: JsonValue): boolean {
  const step = asObject(value)
  const args = step?.['type'] === 'function_call' ? asObject(step['arguments']) : undefined
  return args !== undefined && Object.keys(args).length > 0
}
