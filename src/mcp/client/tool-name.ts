import { sha256Hex } from '#hash'

/** What every provider accepts. */
const MAX_CHARS = 64
const HASH_CHARS = 8

/**
 * The name of a server's tool for models: the prefix and the name as they are, where every provider accepts that. Else
 * other characters become `_`, and a piece of the name's digest follows, so that no two names become one.
 */
export function projectedName(prefix: string, name: string): string {
  const whole = `${prefix}${name}`
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(whole)) return whole
  const plain = whole.replace(/[^a-zA-Z0-9_-]/g, '_')
  return `${plain.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${sha256Hex(name).slice(0, HASH_CHARS)}`
}
