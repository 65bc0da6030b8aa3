import type { SpoolStore, SweepReport } from '../spool/spool-store.ts'
import type { Store } from './store.ts'

/** Deletes from a spool what no conversation of a store refers to any more (mark and sweep). */
export async function sweepSpool(
  store: Store,
  spool: SpoolStore | undefined = store.spool,
  options: { readonly graceMs?: number } = {},
): Promise<SweepReport> {
  if (spool === undefined) return { kept: 0, deleted: 0, bytesFreed: 0 }
  const live = new Set<string>()
  for await (const digest of store.digests()) live.add(digest)
  return spool.sweep(live, options)
}
