import { type Clock, systemClock } from '../../core/clock.ts'
import { requireOptions, wrongInput } from '../../core/error/wrong-input.ts'
import { DEFAULT_GRACE_MS, type SpoolStore, type SweepReport } from '../../spool/spool-store.ts'
import type { Store } from '../store.ts'

/**
 * Deletes bytes from a spool that no conversation of a store refers to (mark and sweep). The grace period counts
 * from before the marking, because a reference that is stored during the marking may be missed.
 */
export async function sweepSpool(
  store: Pick<Store, 'digests' | 'spool'>,
  given?: SpoolStore,
  options: { readonly graceMs?: number; readonly clock?: Clock } = {},
): Promise<SweepReport> {
  if (typeof store?.digests !== 'function') {
    throw wrongInput('sweepSpool', 'store', 'must be a store: bytes that it refers to are kept')
  }
  const spool = given === undefined ? store.spool : given
  if (spool !== undefined && typeof spool?.sweep !== 'function') {
    throw wrongInput(
      'sweepSpool',
      'spool',
      "must be a spool store, or be left out for the store's own",
    )
  }
  requireOptions('sweepSpool', options, ['graceMs', 'clock'])
  const { graceMs = DEFAULT_GRACE_MS, clock = systemClock } = options
  if (spool === undefined) return { kept: 0, deleted: 0, bytesFreed: 0 }
  const begun = clock.now()
  const live = new Set<string>()
  for await (const digest of store.digests()) live.add(digest)
  return spool.sweep(live, { graceMs: graceMs + Math.max(0, clock.now() - begun) })
}
