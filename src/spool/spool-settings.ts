import { spoolSetting } from './spool-errors.ts'

/** Gives a grace period back, or throws: compared with `NaN`, everything would count as old. */
export function assertGrace(graceMs: unknown): number {
  if (typeof graceMs === 'number' && !Number.isNaN(graceMs)) return graceMs
  throw spoolSetting('graceMs', 'must be a number of milliseconds')
}

/** Gives a quota back, or throws: no number of bytes is more than `NaN`, so that it would bound nothing. */
export function assertQuota(quotaBytes: unknown): number {
  if (typeof quotaBytes === 'number' && quotaBytes >= 0) return quotaBytes
  throw spoolSetting('quotaBytes', 'must be a number of bytes from 0 on')
}

/** What no set can answer for would be swept away, or stop the sweep half-way. */
export function assertLive(live: unknown): void {
  if (typeof (live as ReadonlySet<string> | null | undefined)?.has === 'function') return
  throw spoolSetting('live', 'must be a set of the digests that are in use')
}
