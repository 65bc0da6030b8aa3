import type { JsonPath } from './json-error.ts'
import { findFault } from './json-scan.ts'

/**
 * The path of the first key that occurs twice in one object of a JSON text, where `matters` says so of its path.
 * Parsing keeps the last of two members and does not say so. `value` is what the text was parsed into.
 */
export function doubledKey(
  text: string,
  value: unknown,
  matters: (path: JsonPath) => boolean,
): JsonPath | undefined {
  // Each member has a colon, so that a text with no more colons than the value has members doubles none.
  if (colonsIn(text) === membersIn(value)) return undefined
  return findFault(
    text,
    Number.POSITIVE_INFINITY,
    ({ rule, path }) => rule === 'duplicate-key' && matters(path),
  )?.path
}

function colonsIn(text: string): number {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count++
  return count
}

const MAX_DEPTH = 100

/** The members of all objects in a parsed value; not a number where it nests too deep to be counted so. */
function membersIn(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth > MAX_DEPTH) return Number.NaN
  let count = 0
  if (Array.isArray(value)) {
    for (const member of value) count += membersIn(member, depth + 1)
    return count
  }
  for (const name in value) {
    count += 1 + membersIn((value as Readonly<Record<string, unknown>>)[name], depth + 1)
  }
  return count
}
