import { cutText } from '../prompt/text-cut.ts'

/** Bytes of an error that a record keeps: what went wrong, not everything that was in the way. */
const MAX_ERROR_BYTES = 16_384

/** Anything can be thrown, also values whose own conversion to text throws. */
export function errorText(thrown: unknown): string {
  try {
    return cutText(thrown instanceof Error ? thrown.message : String(thrown), MAX_ERROR_BYTES)
  } catch {
    return 'a value that cannot be shown as text was thrown'
  }
}
