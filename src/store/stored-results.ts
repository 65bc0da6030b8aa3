import { BobbinError } from '../core/error/error.ts'
import { wrongInput } from '../core/error/wrong-input.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { spoolNotFound } from '../spool/spool-errors.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import type { Store } from './store.ts'

/**
 * Reads the results of stored records: small ones are in the store itself, larger ones on its spool. Pass it
 * to `ToolCall.fromJSON` or `Message.fromJSON` as `spool`, and their artifacts and media can be read again.
 */
export function storedResults(
  store: Pick<Store, 'blob' | 'spool'>,
  given?: Pick<SpoolStore, 'read'>,
): Pick<SpoolStore, 'read'> {
  if (typeof (store as Store | null | undefined)?.blob !== 'function') {
    throw wrongInput('storedResults', 'store', 'must be a store: it holds the small results')
  }
  const spool = given === undefined ? store.spool : given
  if (spool !== undefined && typeof (spool as SpoolStore | null)?.read !== 'function') {
    const rule = "must be a spool store, or be left out for the store's own"
    throw wrongInput('storedResults', 'spool', rule)
  }
  return {
    async read(digest): Promise<SpoolReader> {
      const blob = await store.blob(digest)
      if (blob === undefined) {
        if (spool === undefined) throw spoolNotFound(digest)
        return spool.read(digest)
      }
      const reader = await memorySpool().write(blob)
      if (reader.digest === digest) return reader
      const message = `The stored result \`${digest}\` has changed: run \`verify\` on the store.`
      throw new BobbinError('E_SPOOL_CORRUPT', message, { digest, part: 'blob' })
    },
  }
}
