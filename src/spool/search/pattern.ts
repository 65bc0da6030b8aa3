import type { RE2JS as Re2 } from 're2js'
import { brief } from '../../core/error/cut-text.ts'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { nextTurn } from '../event-loop.ts'
import { MAX_NEEDLE_BYTES } from '../scan/scanner.ts'
import { type Program, programOf, requiredText } from './program.ts'

/** What to look for. */
export interface PatternOptions {
  readonly pattern: string
  /** True when the pattern is text to find as it is. */
  readonly literal?: boolean
  readonly ignoreCase?: boolean
}

/** A pattern ready to search with. */
export interface Pattern {
  readonly program: Program
  /** Bytes that every matching line contains. */
  readonly needle?: Uint8Array
  /** True when the needle may be there in either case. */
  readonly foldNeedle: boolean
  /** True when a line that contains the needle matches. */
  readonly needleIsAll: boolean
}

const MAX_PATTERN_CHARS = 1_000
const MAX_REPEATS = 1_000
const MAX_UNICODE_CLASSES = 32

/** Compiles for the linear-time engine, or throws `E_PATTERN_UNSUPPORTED` with what to use instead. */
export async function compilePattern(options: PatternOptions): Promise<Pattern> {
  const { pattern, literal = false, ignoreCase = false } = options
  assertAffordable(pattern, literal)
  // Loaded on first use: most processes never search with an expression.
  const { RE2JS } = await import('re2js')
  const compile = (flags: number) =>
    literal
      ? RE2JS.compile(RE2JS.quote(pattern), flags)
      : compileExpression(() => RE2JS.compile(RE2JS.translateRegExp(pattern), flags), pattern)
  const exact = compile(0)
  // Compiling the largest pattern that is allowed takes tens of milliseconds, so each step is a turn of its own.
  await nextTurn()
  const compiled = ignoreCase ? compile(RE2JS.CASE_INSENSITIVE) : exact
  if (ignoreCase) await nextTurn()
  // What a match contains as it is written, it contains in some case when case does not count.
  const text = literal && !pattern.includes('\ufffd') ? pattern : requiredText(exact)
  const bytes = new TextEncoder().encode(ignoreCase ? foldable(text) : text)
  const program = programOf(compiled)
  await nextTurn()
  return {
    program,
    ...(bytes.length > 0 && { needle: bytes.slice(0, MAX_NEEDLE_BYTES) }),
    foldNeedle: ignoreCase,
    needleIsAll: literal && !ignoreCase && text === pattern && bytes.length <= MAX_NEEDLE_BYTES,
  }
}

/** The longest part whose case lies in one bit: beyond ASCII it does not, and `k` and `s` have relatives there. */
function foldable(text: string): string {
  const parts = text.split(/[^\x20-\x7e]|[ks]/i)
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '')
}

/** Compiling takes time that grows with the pattern and with its counted repetitions. */
function assertAffordable(pattern: string, literal: boolean): void {
  if (typeof pattern !== 'string' || pattern === '') {
    throw unsupported('', 'The pattern must be a non-empty string.')
  }
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw unsupported(pattern, `A pattern has at most ${MAX_PATTERN_CHARS} characters.`)
  }
  if (literal) {
    if (!pattern.includes('\n')) return
    throw unsupported(pattern, 'A match lies within one line: search for a part without a newline.')
  }
  let repeats = 0
  for (const [, least, most] of pattern.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)) {
    repeats += Number(most || least)
  }
  if (repeats > MAX_REPEATS) {
    throw unsupported(
      pattern,
      `Counted repetitions may add up to ${MAX_REPEATS}: use \`*\` or \`+\`.`,
    )
  }
  if ((pattern.match(/\\p/gi)?.length ?? 0) > MAX_UNICODE_CLASSES) {
    throw unsupported(
      pattern,
      `At most ${MAX_UNICODE_CLASSES} Unicode classes: use \`\\w\` or \`.\`.`,
    )
  }
}

function compileExpression(compile: () => Re2, pattern: string): Re2 {
  try {
    return compile()
  } catch (cause) {
    throw unsupported(pattern, explain(pattern, thrownText(cause)), cause)
  }
}

const EXPLANATIONS: readonly (readonly [RegExp, string])[] = [
  [
    /\(\?<?[=!]/,
    'Look-ahead and look-behind do not exist in this engine, which runs in linear time. Search for the ' +
      'surrounding text as part of the pattern, or search twice.',
  ],
  [
    /\\[1-9]|\\k<|\(\?P=/,
    'Back-references do not exist in this engine, which runs in linear time. Write the text out, or search for ' +
      'the parts one after another.',
  ],
  [
    /\(\?>|[*+?}]\+/,
    'Atomic groups and possessive quantifiers are not supported: plain ones are linear here.',
  ],
  [/\{\d+/, 'A counted repetition goes up to 1000, nested ones multiplied: use `*` or `+`.'],
]

function explain(pattern: string, said: string): string {
  const offender = said.slice(said.indexOf('`'))
  const where = said.includes('`') ? `${offender}${pattern}` : pattern
  for (const [syntax, explanation] of EXPLANATIONS) {
    if (syntax.test(offender) || (said.includes('Perl syntax') && syntax.test(where))) {
      return explanation
    }
  }
  return `The engine takes RE2 syntax: ${said}. To find text as it is, use \`literal\`.`
}

function unsupported(
  pattern: string,
  rule: string,
  cause?: unknown,
): BobbinError<'E_PATTERN_UNSUPPORTED'> {
  const shown = brief(pattern, 81)
  return new BobbinError(
    'E_PATTERN_UNSUPPORTED',
    `The pattern \`${shown}\` cannot be searched for. ${rule}`,
    { pattern: shown, rule },
    { cause },
  )
}
