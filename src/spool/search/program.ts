import type { RE2JS } from 're2js'

/** A compiled pattern as an automaton over code points, in the terms of RE2's instruction set. */
export interface Program {
  readonly start: number
  readonly instructions: readonly Instruction[]
  /** Sorted; no instruction distinguishes code points between two bounds. */
  readonly classBounds: Int32Array
  readonly hasWordBoundary: boolean
}

/** One instruction of a program, as `re2js` compiles it. */
export interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  matchRune(rune: number): boolean
}

/** RE2's instructions, by the numbers that `re2js` gives them. */
export const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  runeAnyNotNewline: 11,
} as const

/** What an `emptyWidth` instruction can ask for. Within one line, text and line have the same borders. */
export const EMPTY = {
  begin: 1 | 4,
  end: 2 | 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const

/** The parts of `re2js` that its declarations leave untyped; its version is pinned, and a test compares us with it. */
interface CompiledInternals {
  readonly prog: { readonly start: number; readonly inst: readonly Instruction[] }
  readonly dfa: { readonly classBounds: Int32Array }
  readonly prefilter: Prefilter | null
}

interface Prefilter {
  readonly type: number
  readonly str: string
  readonly subs: readonly Prefilter[]
}

const EXACT = 1
const ALL_OF = 2

/**
 * Takes the program out of a compiled expression. `re2js` runs a whole text in one call; we run its
 * program ourselves, so that a search can stop after any byte and continue later.
 */
export function programOf(compiled: RE2JS): Program {
  const { prog, dfa } = compiled.re2() as unknown as CompiledInternals
  const words = EMPTY.wordBoundary | EMPTY.noWordBoundary
  return {
    start: prog.start,
    instructions: prog.inst,
    classBounds: dfa.classBounds,
    hasWordBoundary: prog.inst.some(({ op, arg }) => op === OP.emptyWidth && (arg & words) !== 0),
  }
}

/** The longest text that every match must contain, or an empty string. */
export function requiredText(compiled: RE2JS): string {
  const { prefilter } = compiled.re2() as unknown as CompiledInternals
  if (prefilter === null) return ''
  const exact = prefilter.type === ALL_OF ? prefilter.subs : [prefilter]
  return exact
    .filter(({ type }) => type === EXACT)
    .map(({ str }) => str)
    .reduce((longest, text) => (text.length > longest.length ? text : longest), '')
}
