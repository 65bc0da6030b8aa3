import type { JsonObject } from '../core/json.ts'
import { sameJson } from '../core/same-json.ts'
import { normalizeArguments } from '../core/strict-json.ts'

/**
 * What a handler gets, as JSON: the validated value where JSON can say it, and the arguments as supplied
 * where validation made something else of them, such as a `Date`.
 */
export function effectiveArguments(args: JsonObject, value: unknown): JsonObject {
  // Schemas give back a copy even where nothing changed; telling so is cheaper than reading it again.
  if (typeof value !== 'object' || value === null || sameJson(value, args)) return args
  try {
    return normalizeArguments(value)
  } catch {
    return args
  }
}

/** The effective arguments for a record: only there when validation changed something. */
export function changedArguments(args: JsonObject, value: unknown): JsonObject | undefined {
  const effective = effectiveArguments(args, value)
  return effective === args || sameJson(effective, args) ? undefined : effective
}
