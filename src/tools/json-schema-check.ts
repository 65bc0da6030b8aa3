import { dereference, type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import type { JsonArray, JsonObject } from '../core/json.ts'
import { isSmall, LONG, longListsWithRepeats } from './argument-size.ts'

/** One fault: where in the arguments, keys and indexes joined by dots, and what is wrong there. */
export interface SchemaFault {
  readonly path: string
  readonly message: string
}

/** More long lists with repeats than this are refused by their length wherever items have to differ. */
const COMPARED_LISTS = 16

/**
 * Makes the check of arguments against plain JSON Schema. The library compares each item of a list with
 * each other, and copies all errors from level to level; a model decides on the length of both, so long
 * lists are compared here, and large arguments are checked up to their first fault.
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

/** Leaves short lists to the library; long ones have to follow a rule that is made for each check. */
function replaceUniqueItems(parts: readonly (Schema | boolean)[], ruleForLong: Schema): boolean {
  let isUsed = false
  for (const part of parts) {
    if (typeof part !== 'object' || part.uniqueItems !== true) continue
    isUsed = true
    delete part.uniqueItems
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, in data nobody awaits
    const uniqueItems = { if: { maxItems: LONG }, then: { uniqueItems: true }, else: ruleForLong }
    part.allOf = [...(part.allOf ?? []), uniqueItems]
  }
  return isUsed
}

/** A long list holds nothing twice if it is none of those that do. */
function setRule(rule: Schema, repeating: readonly JsonArray[]): void {
  delete rule.not
  delete rule.maxItems
  if (repeating.length > COMPARED_LISTS) rule.maxItems = LONG
  else if (repeating.length > 0) rule.not = { enum: [...repeating] }
}

/** Errors that only say that something inside has errors of its own, which follow. */
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
  // Something that matches no alternative because there is none has no details.
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
