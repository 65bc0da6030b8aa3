import { BobbinError } from '../../core/error/error.ts'
import type { PatternOptions } from './pattern.ts'

/** Flags that change nothing when lines are searched one by one, by code points, for whether they match. */
const HARMLESS = /^[dgimsu]*$/

/**
 * A JavaScript `RegExp` as a pattern: its source, and whether case counts. It runs on the linear-time engine, where
 * `\s` and `\b` know ASCII only, and what that engine lacks is refused like any other pattern.
 */
export function regexpPattern(
  pattern: string | RegExp,
  literal = false,
): Pick<PatternOptions, 'pattern' | 'ignoreCase'> {
  if (!isRegExp(pattern)) return { pattern }
  const { source, flags, ignoreCase } = pattern
  if (!literal && HARMLESS.test(flags)) {
    return { pattern: source, ...(ignoreCase && { ignoreCase }) }
  }
  const rule = literal
    ? 'With `literal`, give the text to find as a string.'
    : 'The flags `y` and `v` do not exist here: a search finds lines, wherever the match is.'
  const shown = String(pattern).slice(0, 81)
  const message = `The expression \`${shown}\` cannot be searched for. ${rule}`
  throw new BobbinError('E_PATTERN_UNSUPPORTED', message, { pattern: shown, rule })
}

/** One of another realm fails `instanceof`. */
function isRegExp(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === '[object RegExp]'
}
