import { cutBytes } from '../core/cut-text.ts'

/** Bytes of an error that a record keeps: what went wrong, not everything that was in the way. */
const MAX_ERROR_BYTES = 16_384

/**
 * Anything can be thrown, also values whose own conversion to text throws. `clean` sees the text before it
 * is cut, so that no half of a secret is left.
 */
export function errorText(thrown: unknown, clean = (text: string) => text): string {
  try {
    const text = thrown instanceof Error ? thrown.message : String(thrown)
    return cutBytes(clean(text), MAX_ERROR_BYTES)
  } catch {
    return 'a value that cannot be shown as text was thrown'
  }
}
