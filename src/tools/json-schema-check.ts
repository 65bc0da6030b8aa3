import { dereference, type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import type { JsonArray, JsonObject } from '../core/json/json.ts'
import { isSmall, LONG, longListsWithRepeats } from './argument-size.ts'

/** One fault: where in the arguments, keys and indexes joined by dots, and what is wrong there. */
export interface SchemaFault {
  readonly path: string
  readonly message: string
}

/** With more long lists with repeats than this, every long list that must be unique is refused. */
const COMPARED_LISTS = 16

/**
 * Compiles plain JSON Schema. The library compares every two items of a list, and copies all errors from level to level. A
 * model chooses both lengths, so long lists are compared here, and large arguments are checked up to their first fault.
 */
export function jsonSchemaCheck(
  jsonSchema: JsonObject,
): (args: JsonObject, limit: number) => readonly SchemaFault[] {
  const schema = structuredClone(jsonSchema) as Schema
  const lookup = dereference(schema)
  const ruleForLong: Schema = {}
  const hasUniqueItems = replaceUniqueItems(Object.values(lookup), ruleForLong)
  const errorsOf = (args: JsonObject, untilFirst: boolean): readonly OutputUnit[] =>
    validate(args, schema, '2020-12', lookup, untilFirst).errors
  return (args, limit) => {
    if (hasUniqueItems) setRule(ruleForLong, longListsWithRepeats(args))
    const errors = errorsOf(args, true)
    if (errors.length === 0) return []
    return faultsOf(isSmall(args) ? errorsOf(args, false) : errors, limit)
  }
}

/** Leaves short lists to the library; long ones get a rule that is set before each check. */
function replaceUniqueItems(parts: readonly (Schema | boolean)[], ruleForLong: Schema): boolean {
  let isUsed = false
  for (const part of parts) {
    if (typeof part !== 'object' || part.uniqueItems !== true) continue
    isUsed = true
    delete part.uniqueItems
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, in data that is never awaited
    const uniqueItems = { if: { maxItems: LONG }, then: { uniqueItems: true }, else: ruleForLong }
    part.allOf = [...(part.allOf ?? []), uniqueItems]
  }
  return isUsed
}

/** Long lists must not be among those with repeats. */
function setRule(rule: Schema, repeating: readonly JsonArray[]): void {
  delete rule.not
  delete rule.maxItems
  if (repeating.length > COMPARED_LISTS) rule.maxItems = LONG
  else if (repeating.length > 0) rule.not = { enum: [...repeating] }
}

/** Keywords whose errors only point at other errors, which follow. */
const SUMMARIES = new Set([
  '$ref',
  '$recursiveRef',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
])

function faultsOf(errors: readonly OutputUnit[], limit: number): readonly SchemaFault[] {
  const details: OutputUnit[] = []
  for (const error of errors) {
    if (details.length === limit) break
    if (!SUMMARIES.has(error.keyword)) details.push(error)
  }
  // An empty `anyOf` has no details.
  return (details.length > 0 ? details : errors.slice(0, 1)).map(faultOf)
}

const faultOf = ({
  keyword,
  keywordLocation,
  instanceLocation,
  error,
}: OutputUnit): SchemaFault => ({
  path: instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.'),
  message: keywordLocation.endsWith('/else/not')
    ? 'has equal items, and all of them must differ'
    : keyword === 'false'
      ? 'is not allowed here'
      : error,
})
