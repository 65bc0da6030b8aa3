/** Longer ones are refused: some browsers cut them. */
const MAX_CHARS = 8_000

/**
 * The URL as a browser reads it, with its host in punycode, so that a look-alike shows itself. Undefined unless it is
 * `https`, or `http` to this machine.
 */
export function pageUrl(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARS) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return undefined
  const isHere = /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? url.href : undefined
}
