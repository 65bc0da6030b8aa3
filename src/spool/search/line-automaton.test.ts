import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { LineAutomaton } from './line-automaton.ts'
import { programOf } from './program.ts'

/** Numbers of the matching lines, with the bytes cut into pieces of `size`. */
function matching(pattern: string, bytes: Uint8Array, size = 7): number[] {
  const automaton = new LineAutomaton(programOf(RE2JS.compile(pattern)))
  const lines: number[] = []
  let line = 0
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size)
    for (let i = 0; i < piece.length; ) {
      const end = automaton.run(piece, i)
      i = automaton.position
      if (end === 'line') line++
      if (end === 'match') {
        lines.push(line)
        automaton.skipLine()
      }
      if (end === 'more') break
    }
  }
  if (automaton.finish()) lines.push(line)
  return lines
}

/** The same by decoding everything and asking `re2js` about each line. */
function expected(pattern: string, bytes: Uint8Array): number[] {
  const compiled = RE2JS.compile(pattern)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const ended = lines.map((line, i) =>
    line.endsWith('\r') && (i < lines.length - 1 || text.endsWith('\n')) ? line.slice(0, -1) : line,
  )
  return ended.flatMap((line, i) => (compiled.test(line) ? [i] : []))
}

const atom = fc.constantFrom(
  ...['a', 'b', 'ab', '.', '[ab]', '[^a]', '\\w', '\\d', '\\s', 'ä', '[ä-ö]', '🧵', '\\pL', '\\r'],
  ...['^', '$', '\\b', '\\B', '\\A', '\\z', '(?i)A', '(?i:k)', '\\x{fffd}', '()', 'x*'],
)
const pattern = fc.letrec<{ re: string; part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc
      .tuple(tie('re'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?'))
      .map(([re, repeat]) => `(?:${re})${repeat}`),
    fc.tuple(tie('re'), tie('re')).map(([a, b]) => `(${a}|${b})`),
  ),
  re: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
})).re

const bytes = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', '\r', ' ', '1', 'k', 'K'),
      },
      { weight: 2, arbitrary: fc.constantFrom('ä', 'ö', '🧵', '\u212a', '\ufffd', '\0', '\ufeff') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          [0xff],
          [0xc3],
          [0xf0, 0x9f],
          [0xed, 0xa0, 0x80],
          [0x80],
          [0xe2, 0x82],
        ),
      },
    ),
    { maxLength: 40 },
  )
  .map((parts) =>
    Uint8Array.from(
      parts.flatMap((part) =>
        typeof part === 'string' ? [...new TextEncoder().encode(part)] : part,
      ),
    ),
  )

describe('LineAutomaton', () => {
  it('finds the lines that `re2js` finds, wherever the bytes are cut', () => {
    fc.assert(
      fc.property(pattern, bytes, fc.integer({ min: 1, max: 9 }), (re, text, size) => {
        expect(matching(re, text, size)).toEqual(expected(re, text))
      }),
      { numRuns: runs(1000) },
    )
  })

  it.each([
    ['^$', 'a\n\n\r\nb\n', [1, 2]],
    ['', 'a\n\nb', [0, 1, 2]],
    ['a$', 'a\r\nba\nab\na', [0, 1, 3]],
    ['^b', 'ab\nba\n', [1]],
    ['\\bcat\\b', 'concat\na cat\ncat', [1, 2]],
    ['\\r', 'a\r\nb\rc\nd\r', [1, 2]],
  ])('knows the lines that `%s` matches in %j', (re, text, lines) => {
    for (let size = 1; size < 12; size++) {
      expect(matching(re, new TextEncoder().encode(text), size)).toEqual(lines)
    }
  })

  it('keeps its memory bounded when a pattern has exponentially many states', () => {
    const automaton = new LineAutomaton(programOf(RE2JS.compile('(a|b)*a(a|b){40}c')))
    const noise = new Uint8Array(40_000).map((_, i) => 97 + (((i * i * 7919) >> 5) % 2))
    const before = process.memoryUsage().arrayBuffers
    for (let at = 0; at < noise.length; at = automaton.position) {
      if (automaton.run(noise, at) === 'more') break
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
  })
})
