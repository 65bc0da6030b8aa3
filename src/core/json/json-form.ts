import type { JsonValue } from './json.ts'

/** Whether a value says itself how it looks as JSON, as records, artifacts and media do. */
export function hasJsonForm(value: unknown): value is { toJSON(): JsonValue } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'toJSON' in value &&
    typeof value.toJSON === 'function'
  )
}
