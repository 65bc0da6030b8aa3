import type { JsonPath } from './json-error.ts'
import { findFault } from './json-scan.ts'

/**
 * The path of the first key that occurs twice in one object of a JSON text, where `matters` says so of its path.
 * Parsing keeps the last of two members and does not say so.
 */
export function doubledKey(
  text: string,
  _value: unknown,
  matters: (path: JsonPath) => boolean,
): JsonPath | undefined {
  return findFault(
    text,
    Number.POSITIVE_INFINITY,
    ({ rule, path }) => rule === 'duplicate-key' && matters(path),
  )?.path
}
