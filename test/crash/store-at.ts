import type { StoreOptions } from '../../src/store/core/create-store.ts'
import type { Store } from '../../src/store/store.ts'
import { fileSpool } from '../../src/stores/fs/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

/** Where conversations are kept: in a file, or in a schema on a server with a spool beside it. */
export type StorePlace =
  | { readonly path: string }
  | { readonly url: string; readonly schema: string; readonly spool: string }

/** The store at a place; every process that is told the place opens the same one. */
export function storeAt(place: StorePlace, options: StoreOptions = {}): Store {
  if ('path' in place) return sqliteStore(place.path, options)
  const { url, schema, spool } = place
  return postgresStore({ url, schema, spool: fileSpool(spool), connections: 4, ...options })
}
