import { cutBytes } from '../core/cut-text.ts'
import { thrownText } from '../core/thrown-text.ts'

/** Bytes of an error that a record keeps: what went wrong, not everything that was in the way. */
const MAX_ERROR_BYTES = 16_384

/** What a thrown value says, cut. `clean` sees the text before it is cut, so that no half of a secret is left. */
export function errorText(thrown: unknown, clean = (text: string) => text): string {
  return cutBytes(clean(thrownText(thrown)), MAX_ERROR_BYTES)
}
