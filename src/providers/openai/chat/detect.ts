import { asList, asObject } from '../../../model/wire/wire-value.ts'

/** True for messages with roles, and for responses with choices. Others have messages too: this one is asked last. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  if (whole?.['choices'] !== undefined) return true
  const entries = Array.isArray(payload) ? payload : asList(whole?.['messages'] ?? [payload])
  return entries.some((entry) => asObject(entry)?.['role'] !== undefined)
}
