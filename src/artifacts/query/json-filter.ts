import { isObject, wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'

/** How a value can be compared. */
export const FILTER_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'greater',
  'less',
  'exists',
  'missing',
] as const

/** One way to compare a value. */
export type FilterOperator = (typeof FILTER_OPERATORS)[number]
/** What a value is compared with. */
export type FilterOperand = string | number | boolean | null | undefined

type Test = (value: JsonValue | undefined, operand: FilterOperand) => boolean

const TESTS: { readonly [O in FilterOperator]: Test } = {
  exists: (value) => value !== undefined,
  missing: (value) => value === undefined,
  equals: (value, operand) => value === (operand ?? null),
  not_equals: (value, operand) => value !== (operand ?? null),
  contains: (value, operand) =>
    typeof value === 'string'
      ? value.includes(String(operand))
      : Array.isArray(value) && value.includes(operand),
  greater: (value, operand) => compare(value, operand) > 0,
  less: (value, operand) => compare(value, operand) < 0,
}

/** Refuses what no item can be tested by; `on` names the member that says what is tested. */
export function requireCondition(on: 'field' | 'column', condition: unknown): void {
  const example = `such as \`{ ${on}: 'status', operator: 'equals', value: 'ok' }\``
  if (!isObject(condition)) throw wrongInput('filter', 'condition', `must be an object, ${example}`)
  const operator: unknown = Reflect.get(condition, 'operator')
  if (!(FILTER_OPERATORS as readonly unknown[]).includes(operator)) {
    throw wrongInput('filter', 'operator', `must be one of ${FILTER_OPERATORS.join(', ')}`)
  }
}

/** Whether a value, or its absence, satisfies one condition. */
export function satisfies(
  value: JsonValue | undefined,
  operator: FilterOperator,
  operand: FilterOperand,
): boolean {
  return TESTS[operator](value, operand)
}

/** Numbers with numbers and text with text; anything else is neither greater nor less. */
function compare(value: JsonValue | undefined, operand: FilterOperand): number {
  if (typeof value === 'number' && typeof operand === 'number') return value - operand
  if (typeof value !== 'string' || typeof operand !== 'string') return Number.NaN
  return value < operand ? -1 : value > operand ? 1 : 0
}
