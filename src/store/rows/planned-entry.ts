import type { NewEntry } from '../entry.ts'
import { type Redact, redactEntry } from './redaction.ts'

/** An entry as it will be stored, wherever in the log that is. */
export interface PlannedEntry {
  readonly entry: NewEntry
  readonly time: number
  readonly redacted: readonly string[] | undefined
}

/** An entry without what the hook names, here or where it was imported from. */
export function redactPlanned(planned: PlannedEntry, redact: Redact | undefined): PlannedEntry {
  const before = planned.redacted
  const { entry, redacted: now } = redactEntry(planned.entry, redact)
  const redacted = before && now ? [...new Set([...before, ...now])] : (before ?? now)
  return { ...planned, entry, redacted }
}
