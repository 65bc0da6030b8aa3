const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** Bytes as people read them: `33.4 MB`. */
export function showBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** A duration as people read it: `85 ms`, `2.4 s`, `3 min 5 s`. */
export function showDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** A count with its noun: `1 call`, `300,000 lines`. */
export function showCount(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

const ROUNDED = {
  notation: 'compact',
  compactDisplay: 'long',
  maximumSignificantDigits: 2,
} as const

/** An estimate, no more exact than it is: `7.1 million`. */
export const showRounded = (count: number) => count.toLocaleString('en-US', ROUNDED)
