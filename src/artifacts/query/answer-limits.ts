/** What one answer to a model may hold: about four thousand tokens. */
export const ANSWER_CHARS = 16_000
/** Lines that can be asked for in one answer. */
export const MAX_LINES = 2_000
/** Lines in one answer when nothing is asked. */
export const DEFAULT_LINES = 100
/** How much of one line an answer of several lines shows. */
export const LINE_CHARS = 2_000
/** Keys that one call of a method gives at most. */
export const MAX_KEYS = 10_000
/** How long a scan may take before it answers with what it has and a cursor. */
export const SCAN_MS = 10_000

/** What the methods give at most unless told otherwise: they serve programs, not prompts. */
export const METHOD_LIMITS = { maxLines: 10_000, maxChars: 1_000_000, maxLineChars: 65_536 }

/** A whole number from `low` to `high`, whatever was asked for. */
export function clamp(value: number, low: number, high: number): number {
  if (Number.isNaN(value)) return low
  return Math.min(Math.max(Math.trunc(value), low), high)
}
