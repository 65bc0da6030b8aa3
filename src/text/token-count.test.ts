import { decode, encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../test/cpu-time.ts'
import { splitLongRuns } from './long-runs.ts'
import { countTokens, EXACT_LIMIT, registerTokenCounter, TOKENIZERS } from './token-count.ts'
import { Tokenizable } from './tokenizable.ts'

const PROSE =
  'The quick brown fox — naïve, 42 times — jumps over “the lazy dog”.\n\tDone: 3.14159!\r\n'
const CODE = 'export function f(x: number) {\n  return x ** 2 // squared\n}\n\n'
const CJK = '今天天气很好，我们去公园散步。人工智能正在改变世界。'

describe('countTokens', () => {
  it('is exact for the encodings of OpenAI', async () => {
    for (const text of [PROSE, CODE, CJK, '', ' ', '\n\n\n', '👩‍👩‍👧‍👦 ok']) {
      expect(await countTokens(text, 'o200k_base')).toEqual({
        tokens: encode(text).length,
        isEstimate: false,
      })
    }
    for (const encoding of Object.keys(TOKENIZERS)) {
      const count = await countTokens('hello world', encoding)
      expect(count).toEqual({ tokens: 2, isEstimate: false })
    }
  })

  it('stays exact on long texts that are counted in slices', async () => {
    const text = (PROSE + CODE + CJK).repeat(800)
    expect(text.length).toBeGreaterThan(100_000)
    const { pieces } = splitLongRuns(text, 32_768)
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join('')).toBe(text)
    expect(await countTokens(text, 'o200k_base')).toEqual({
      tokens: encode(text).length,
      isEstimate: false,
    })
  })

  it('takes special tokens in the text for text', async () => {
    const { tokens, isEstimate } = await countTokens('a <|endoftext|> b', 'o200k_base')
    expect(isEstimate).toBe(false)
    expect(tokens).toBeGreaterThan(4)
  })

  it.each([
    ['letters', 'a'.repeat(100_000)],
    ['CJK characters', '漢'.repeat(100_000)],
    ['spaces', ' '.repeat(100_000)],
    ['punctuation', '!'.repeat(100_000)],
    ['digits', '7'.repeat(100_000)],
    ['astral letters', '𝒜'.repeat(50_000)],
    ['combining marks', `e${'\u0301'.repeat(100_000)}`],
    ['alternating case', 'aB'.repeat(50_000)],
    ['emoji with selectors', '\u2764\ufe0f'.repeat(50_000)],
    ['punctuation with marks', '!!\u0301'.repeat(33_334)],
    ['zero-width characters', '\u200b\u200d'.repeat(50_000)],
    ['halves of surrogate pairs', '\ud800'.repeat(100_000)],
  ])('counts 100,000 unbroken %s in bounded time and calls it an estimate', async (_, text) => {
    // Two ways of telling words from punctuation; the other encodings follow one of them.
    for (const encoding of ['o200k_base', 'cl100k_base']) {
      await countTokens('warm', encoding)
      const start = cpuTime()
      const { tokens, isEstimate } = await countTokens(text, encoding)
      expect(cpuTime() - start).toBeLessThan(2_000)
      expect(isEstimate).toBe(true)
      expect(tokens).toBeGreaterThan(0)
      expect(tokens).toBeLessThanOrEqual(text.length * 3)
    }
  })

  it('measures a part of a very long text and scales up', async () => {
    const text = PROSE.repeat(Math.ceil((EXACT_LIMIT * 1.5) / PROSE.length))
    const { tokens, isEstimate } = await countTokens(text, 'o200k_base')
    expect(isEstimate).toBe(true)
    const exact = encode(PROSE).length * (text.length / PROSE.length)
    expect(Math.abs(tokens - exact) / exact).toBeLessThan(0.02)
  })

  it('estimates for encodings that it does not know', async () => {
    expect(await countTokens('four char words here', 'claude')).toEqual({
      tokens: 5,
      isEstimate: true,
    })
    const { tokens } = await countTokens(CJK, 'gemini')
    expect(tokens).toBeGreaterThan(CJK.length / 2)
  })

  it('uses a registered counter until it is taken back', async () => {
    const undo = registerTokenCounter('words', (text) => text.split(' ').length)
    expect(await countTokens('one two three', 'words')).toEqual({ tokens: 3, isEstimate: false })
    undo()
    expect((await countTokens('one two three', 'words')).isEstimate).toBe(true)
  })
})

describe('splitLongRuns', () => {
  it('loses nothing and cuts no surrogate pair', () => {
    const text = `${'𝒜'.repeat(5_000)} tail ${'x'.repeat(700)}`
    const { pieces, wasSplit } = splitLongRuns(text, 1_000)
    expect(wasSplit).toBe(true)
    expect(pieces.join('')).toBe(text)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
    expect(decode(encode('x'))).toBe('x')
  })

  it.each(['x', '漢', '\ud835\udc9c', '\u0301', '!\u0301', '7', '\t', '\u2764\ufe0f', '\ud800'])(
    'finds a run of %j from 256 on, wherever it stands',
    (unit) => {
      const run = unit.repeat(256 / unit.length)
      const other = unit === '7' ? 'x' : '7'
      for (let before = 0; before < 520; before++) {
        const text = `${'7x'.repeat(before).slice(0, before)}${other}${run}${other}`
        const { pieces, wasSplit } = splitLongRuns(text, 1_000)
        expect(wasSplit).toBe(true)
        expect(pieces.join('')).toBe(text)
        const short = text.replace(run, run.slice(unit.length))
        expect(splitLongRuns(short, 1_000)).toEqual({ pieces: [short], wasSplit: false })
      }
    },
  )

  it.each([
    ['marks', '\u0301'.repeat(255)],
    ['letters', 'a'.repeat(255)],
    ['emoji', '\u2764\ufe0f'.repeat(127)],
    ['a long run of marks', '\u0301'.repeat(2_000_000)],
    ['a long run of astral letters', '\ud835\udc9c'.repeat(1_000_000)],
  ])('takes linear time for %s that are almost too many', (_, run) => {
    const text = `${run} `.repeat(Math.ceil(2_000_000 / (run.length + 1)))
    const start = cpuTime()
    splitLongRuns(text, 32_768)
    expect(cpuTime() - start).toBeLessThan(1_000)
  })
})

describe('Tokenizable', () => {
  it('is text that counts its own tokens', async () => {
    const text = new Tokenizable('hello world')
    expect(String(text)).toBe('hello world')
    expect(JSON.stringify({ text })).toBe('{"text":"hello world"}')
    expect(await text.estimateTokens()).toEqual({ tokens: 2, isEstimate: false })
    expect(text.estimateTokens('o200k_base')).toBe(text.estimateTokens('o200k_base'))
    expect(text.length).toBe(11)
  })

  it('wraps a Tokenizable and refuses everything else', () => {
    expect(new Tokenizable(new Tokenizable('x'))).toEqual(new Tokenizable('x'))
    for (const value of [5, null, undefined, { text: 'x' }, ['x']]) {
      expect(() => new Tokenizable(value as never)).toThrow(/must be a string or a Tokenizable/)
    }
  })
})
