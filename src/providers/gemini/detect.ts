import { asObject } from '../../model/wire/wire-value.ts'

/** True for requests with `contents`, responses with `candidates`, and contents with `parts`. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  if (whole?.['contents'] !== undefined || whole?.['candidates'] !== undefined) return true
  const entries: readonly unknown[] = Array.isArray(payload) ? payload : [payload]
  return entries.some((entry) => Array.isArray(asObject(entry)?.['parts']))
}
