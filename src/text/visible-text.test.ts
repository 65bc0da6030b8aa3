import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../test/cpu-time.ts'
import { runs } from '../../test/runs.ts'
import { escapeCodePoint, visibleText } from './visible-text.ts'

/** Undoes the escapes by the one rule that the contract states. */
const undo = (shown: string) =>
  shown.replace(/\\u\{([0-9A-F]{1,6})\}/g, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  )

const anyText = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom(
      '\\',
      'u',
      '{',
      '}',
      '5C',
      '\\u{41}',
      '\\u{',
      '\u200d',
      '\ufe0f',
      '❤',
      '\r',
      '\n',
      'ن',
    ),
  ),
  maxLength: 40,
})

describe('visibleText', () => {
  it.each([
    ['a right-to-left override', 'a\u202eb', 'a\\u{202E}b'],
    ['an ANSI colour', '\u001b[31mred', '\\u{1B}[31mred'],
    ['a one-byte control sequence introducer', '\u009b31m', '\\u{9B}31m'],
    ['a zero-width space', 'to\u200bken', 'to\\u{200B}ken'],
    ['tag characters', 'x\u{e0041}\u{e007f}', 'x\\u{E0041}\\u{E007F}'],
    ['a byte order mark', '\ufeffa', '\\u{FEFF}a'],
    ['a lone surrogate', 'a\ud83d', 'a\\u{D83D}'],
    ['a lone carriage return', 'safe\rEVIL', 'safe\\u{D}EVIL'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a selector after a letter', 'a\ufe0f', 'a\\u{FE0F}'],
    ['a second selector after an emoji', '❤\ufe0f\ufe0e', '❤\ufe0f\\u{FE0E}'],
    ['bytes hidden in selectors', '😀\u{e0148}\u{e0149}', '😀\\u{E0148}\\u{E0149}'],
    ['a joiner between Latin letters', 'a\u200db', 'a\\u{200D}b'],
    ['a run of joiners', 'ن\u200c\u200cن', 'ن\\u{200C}\\u{200C}ن'],
    ['an escape that was there before', '\\u{202E}', '\\u{5C}u{202E}'],
    ['a Hangul filler', '\u3164', '\\u{3164}'],
    ['a noncharacter', '\u{1fffe}', '\\u{1FFFE}'],
  ])('shows %s', (_, text, shown) => {
    expect(visibleText(text)).toBe(shown)
    expect(undo(shown)).toBe(text)
  })

  it.each([
    ['prose and code', 'naïve “quotes” — 42\n\tx = "\\n" + "\\u202e" + "\\\\";\n'],
    ['Windows line ends', 'one\r\ntwo\r\n'],
    ['emoji', '👩‍👩‍👧‍👦 ❤️ 1️⃣ 🏳️‍🌈 👍🏽 👩🏽‍🚀'],
    ['Persian', 'می‌خواهم'],
    ['Hindi and Sinhala', 'क्‍ष ක්‍ෂ'],
    ['Mongolian', 'ᠨᠢᠭᠡ᠋'],
    ['Chinese, Japanese, Korean, Hebrew', '漢字 かな 한국어 שלום'],
    ['odd spaces', 'a\u00a0b\u3000c\u202fd'],
    ['half an escape', '\\u{ \\u{} \\u{XYZ} \\u{202e} \\u{1234567}'],
  ])('leaves %s as they are', (_, text) => {
    expect(visibleText(text)).toBe(text)
  })

  it('shows everything that the engine calls ignorable, control or format without a shape', () => {
    const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
    const hasShape = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u
    const missed: string[] = []
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
      const char = String.fromCodePoint(codePoint)
      if (char === '\n' || char === '\t' || !invisible.test(char) || hasShape.test(char)) continue
      if (visibleText(char) !== escapeCodePoint(codePoint)) missed.push(codePoint.toString(16))
    }
    expect(missed).toEqual([])
  })

  it('can be undone, whatever the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = visibleText(text)
        expect(undo(shown)).toBe(text)
        expect(shown.isWellFormed()).toBe(true)
        expect(shown.replaceAll(/[\r\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u200b\ufeff]/u)
      }),
      { numRuns: runs(5_000) },
    )
  })

  it('takes time in proportion to the text', () => {
    const run = (text: string) => {
      const start = cpuTime()
      visibleText(text)
      return cpuTime() - start
    }
    run('a\u200d')
    expect(run('plain text '.repeat(100_000))).toBeLessThan(200)
    expect(run('\u200d\ufe0f'.repeat(500_000))).toBeLessThan(3_000)
  })
})
