import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { memorySpool } from '../memory-spool.ts'
import type { SpoolInput } from '../spool-store.ts'
import { type SearchAnswer, type SearchOptions, searchSpool } from './search.ts'

/** Time enough, so that what is found does not depend on how busy the machine is. */
const budgetMs = 60_000

async function search(data: SpoolInput, options: SearchOptions): Promise<SearchAnswer> {
  return searchSpool(await memorySpool().write(data), { budgetMs, ...options })
}

const numbersOf = ({ lines }: SearchAnswer) =>
  lines.filter((line) => line.isMatch).map((line) => line.line)

const LOG = Array.from(
  { length: 50_000 },
  (_, i) => `${i} ${i % 7 === 0 ? 'ERROR' : 'info'} x${i * i}`,
)

describe('searchSpool', () => {
  it('gives matching lines with their numbers and text', async () => {
    const answer = await search('one\ntwo\r\nthree\ntwo again', { pattern: 'two' })
    expect(answer).toEqual({
      lines: [
        { line: 1, text: 'two', bytesBefore: 0, bytesAfter: 0, isMatch: true },
        { line: 3, text: 'two again', bytesBefore: 0, bytesAfter: 0, isMatch: true },
      ],
      matches: 2,
      bytesSearched: 24,
      stoppedBy: 'end',
    })
  })

  it.each([
    ['ERROR', {}],
    ['E+RROR x\\d*4$', {}],
    ['error', { ignoreCase: true }],
    ['^[0-9]+ (info|ERROR) x1.*6$', {}],
    ['\\bx2500\\b', {}],
    ['x36', { literal: true }],
    ['ROR X1', { literal: true, ignoreCase: true }],
    ['eRRor x[0-9]*[13579]$', { ignoreCase: true }],
  ])('finds what a plain reading finds: %s', async (pattern, flags) => {
    const options = { pattern, ...flags, maxMatches: 1e6, maxChars: 1e9 }
    const source = 'literal' in flags ? RE2JS.quote(pattern) : pattern
    const plain = RE2JS.compile(source, 'ignoreCase' in flags ? RE2JS.CASE_INSENSITIVE : 0)
    const expected = LOG.flatMap((line, i) => (plain.test(line) ? [i] : []))
    const answer = await search(LOG.join('\n'), options)
    expect(expected.length).toBeGreaterThan(0)
    expect(numbersOf(answer)).toEqual(expected)
    for (const { line, text } of answer.lines) expect(text).toBe(LOG[line])
  })

  it('agrees with a plain search for any literal in any bytes', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'aa', '\n', '\r\n', '\r', 'ä'), { maxLength: 60 })
      .map((parts) => parts.join(''))
    const literal = fc
      .array(fc.constantFrom('a', 'b', '\r', 'ä'), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, literal, async (data, pattern) => {
        const lines = data.split('\n')
        const open = lines.pop() ?? ''
        const all = [
          ...lines.map((line) => line.replace(/\r$/, '')),
          ...(open === '' ? [] : [open]),
        ]
        const answer = await search(data, { pattern, literal: true })
        expect(numbersOf(answer)).toEqual(
          all.flatMap((line, i) => (line.includes(pattern) ? [i] : [])),
        )
      }),
      { numRuns: runs(400) },
    )
  })

  it('ignores case beyond ASCII too', async () => {
    const data = 'MASSE\nma\u017f\u017fe\nkelvin\n\u212aELVIN\nÄRGER\närger\nother'
    const found = async (pattern: string, literal: boolean) =>
      numbersOf(await search(data, { pattern, literal, ignoreCase: true }))
    for (const literal of [true, false]) {
      expect(await found('masse', literal)).toEqual([0, 1])
      expect(await found('Kelvin', literal)).toEqual([2, 3])
      expect(await found('ärgER', literal)).toEqual([4, 5])
    }
  })

  it('finds a literal and an expression across block borders', async () => {
    for (let shift = 0; shift < 12; shift++) {
      const data = `${'-'.repeat(262_144 - shift)}needle 42\nnext needle 7\n`
      expect(numbersOf(await search(data, { pattern: 'needle', literal: true }))).toEqual([0, 1])
      expect(numbersOf(await search(data, { pattern: 'needle \\d+$' }))).toEqual([0, 1])
    }
  })

  it('shows context lines once, also where they overlap', async () => {
    const data = 'a\nb\nhit\nd\nhit\nf\ng\nh\nhit'
    const { lines } = await search(data, { pattern: 'hit', before: 1, after: 1 })
    const shown = lines.map(({ line, isMatch }) => (isMatch ? `${line}*` : `${line}`))
    expect(shown).toEqual(['1', '2*', '3', '4*', '5', '7', '8*'])
  })

  it('shows no more context than fits, however much is asked for', async () => {
    const reader = await memorySpool().write(
      `${'line\n'.repeat(5_000)}match\n${'line\n'.repeat(5_000)}`,
    )
    for (const context of [1e9, Number.POSITIVE_INFINITY, Number.MAX_VALUE]) {
      const around = { before: context, after: context }
      const { lines } = await searchSpool(reader, { pattern: 'match', ...around })
      expect(lines).toHaveLength(101)
      expect(lines[50]).toMatchObject({ line: 5_000, isMatch: true })
    }
    for (const context of [-1, Number.NaN, Number.NEGATIVE_INFINITY, 0.5]) {
      const around = { before: context, after: context }
      const { lines } = await searchSpool(reader, { pattern: 'match', ...around })
      expect(lines.map(({ line }) => line)).toEqual([5_000])
    }
  })

  it('pages through every match with its cursor', async () => {
    const reader = await memorySpool().write(LOG.join('\n'))
    const expected = LOG.flatMap((line, i) => (line.includes('ERROR') ? [i] : []))
    const found: number[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 100; pages++) {
      const answer: SearchAnswer = await searchSpool(reader, {
        pattern: 'ERROR',
        budgetMs,
        maxMatches: 1000,
        ...(pages % 2 === 1 && { maxChars: 9_000 }),
        ...(cursor && { cursor }),
      })
      found.push(...numbersOf(answer))
      cursor = answer.cursor
      if (cursor === undefined) break
    }
    expect(found).toEqual(expected)
  })

  it('begins at `fromLine`', async () => {
    expect(numbersOf(await search('x\nx\nx\n', { pattern: 'x', fromLine: 1 }))).toEqual([1, 2])
    expect(numbersOf(await search('x\nx\n', { pattern: 'x', fromLine: 9 }))).toEqual([])
  })

  it('cuts a long line to a window around the match, never within a character', async () => {
    const data = `${'ä🧵'.repeat(200_000)}NEEDLE${'🧵ä'.repeat(200_000)}`
    for (let extra = 0; extra < 4; extra++) {
      const options = { pattern: 'NEEDLE', maxLineChars: 100 + extra }
      const [line] = (await search('x'.repeat(extra) + data, options)).lines
      expect(line?.text).toContain('NEEDLE')
      expect(line?.text).toMatch(/^[äNEDL🧵]+$/u)
      expect(line?.text.length).toBeLessThanOrEqual(100 + extra)
      expect(line?.bytesBefore).toBeGreaterThan(1_000_000)
      expect(line?.bytesAfter).toBeGreaterThan(1_000_000)
    }
  })

  it('searches one line of 50 MB', async () => {
    const data = (async function* () {
      for (let i = 0; i < 50; i++) yield 'abcdefghij'.repeat(100_000)
      yield 'THE END'
    })()
    const { lines } = await search(data, { pattern: 'j(T|t)HE E.D$' })
    expect(lines.map(({ text }) => text.endsWith('THE END'))).toEqual([true])
  })

  it.each([
    ['(?=a)b', /[Ll]ook-ahead/],
    ['(?!a)b', /[Ll]ook-ahead/],
    ['(?<=a)b', /look-behind/],
    ['(?<!a)b', /look-behind/],
    ['(a)\\1', /[Bb]ack-references/],
    ['(?>a)b', /Atomic groups and possessive quantifiers are not supported/],
    ['a++', /possessive/],
    ['(a{1000}){1000}', /repetition/],
    ['a{2000}', /repetition/],
    ['(a{100}){100}', /repetition/],
    ['(', /RE2 syntax/],
    ['[a', /RE2 syntax/],
    ['', /non-empty/],
  ])('refuses `%s` with what to use instead', async (pattern, message) => {
    await expect(search('text', { pattern })).rejects.toMatchObject({
      code: 'E_PATTERN_UNSUPPORTED',
      message: expect.stringMatching(message),
    })
  })

  it('refuses a pattern of 5,000 characters', async () => {
    await expect(search('text', { pattern: 'x'.repeat(5_000) })).rejects.toMatchObject({
      code: 'E_PATTERN_UNSUPPORTED',
      data: { rule: expect.stringMatching(/1000 characters/) },
    })
  })

  it('refuses a literal that contains a newline', async () => {
    const options = { pattern: 'a\nb', literal: true }
    await expect(search('a\nb', options)).rejects.toMatchObject({ code: 'E_PATTERN_UNSUPPORTED' })
  })

  it.each(['-1', '1e3', 'x', '', '9'.repeat(30), '../..'])(
    'refuses the cursor `%s`',
    async (cursor) => {
      await expect(search('a', { pattern: 'a', cursor })).rejects.toMatchObject({
        code: 'E_INVALID_CURSOR',
      })
    },
  )

  it('stops when its signal aborts', async () => {
    const signal = AbortSignal.abort()
    await expect(search('a', { pattern: 'a', signal })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('answers in part when its time is up, and goes on from its cursor', async () => {
    const reader = await memorySpool().write(LOG.join('\n'))
    let time = 0
    const now = () => time++
    const found: number[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const options = { pattern: 'ERROR x.*9', budgetMs: 900, now, maxMatches: 1e6, maxChars: 1e9 }
      const answer: SearchAnswer = await searchSpool(reader, {
        ...options,
        ...(cursor && { cursor }),
      })
      found.push(...numbersOf(answer))
      cursor = answer.cursor
      pages++
    } while (cursor !== undefined && pages < 500)
    expect(pages).toBeGreaterThan(1)
    expect(found).toEqual(LOG.flatMap((line, i) => (/ERROR x.*9/.test(line) ? [i] : [])))
  })

  it('is not cut short by what others do between its turns', async () => {
    const reader = await memorySpool().write(`${'all is well\n'.repeat(700_000)}the needle\n`)
    let isOver = false
    let turns = 0
    const hog = () => {
      if (isOver) return
      turns++
      const until = performance.now() + 160
      while (performance.now() < until);
      setImmediate(hog)
    }
    setImmediate(hog)
    const answer = await searchSpool(reader, { pattern: 'needle' }).finally(() => {
      isOver = true
    })
    expect(turns).toBeGreaterThan(0)
    expect(answer).toMatchObject({ stoppedBy: 'end', matches: 1 })
  })

  it('keeps its own bounds where a bound given is no number', async () => {
    const reader = await memorySpool().write(`${'x'.repeat(2_000)}\n`.repeat(300))
    const none = Number.NaN
    const bounds = {
      before: none,
      after: none,
      maxChars: none,
      maxLineChars: none,
      budgetMs: none,
    }
    const plain = { pattern: 'x', maxMatches: 1_000 }
    const answer = await searchSpool(reader, { ...plain, ...bounds })
    expect(answer).toEqual(await searchSpool(reader, plain))
    expect(answer.stoppedBy).toBe('characters')
    let time = 0
    const late = await searchSpool(reader, { ...plain, ...bounds, now: () => (time += 100) })
    expect(late.stoppedBy).toBe('time')
  })

  it('leaves out a line that uses up all the time, says so, and goes on behind it', async () => {
    let time = 0
    const data = `${'a'.repeat(2_000_000)}\nshort a b\n`
    const options = { pattern: '(a|b)+ b$', budgetMs: 2, now: () => time++ }
    const first = await search(data, options)
    expect(first).toMatchObject({ stoppedBy: 'time', unsearchedLine: 0, cursor: '1', matches: 0 })
    const second = await search(data, { ...options, budgetMs: 100, cursor: '1' })
    expect(numbersOf(second)).toEqual([1])
    expect(second.stoppedBy).toBe('end')
  })
})
