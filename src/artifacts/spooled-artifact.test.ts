import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../test/runs.ts'
import { isBobbinError } from '../core/error/error.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

const spool = memorySpool()
const artifact = async (text: string | Uint8Array) => new SpooledArtifact(await spool.write(text))

/** A reader that counts the bytes it hands out. */
function counting(reader: SpoolReader): { reader: SpoolReader; bytes: () => number } {
  let bytes = 0
  return {
    bytes: () => bytes,
    reader: {
      ...reader,
      async read(start, end) {
        const read = await reader.read(start, end)
        bytes += read.length
        return read
      },
    },
  }
}

describe('SpooledArtifact', () => {
  it('shows in a log what it is and how large', async () => {
    const log = await artifact('one\ntwo\n')
    expect(inspect({ log })).toBe(
      `{ log: SpooledArtifact { 8 bytes, 2 lines, sha256 ${log.digest.slice(0, 12)}… } }`,
    )
    expect(inspect(SpooledArtifact.prototype)).toBe('{}')
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', 'log'],
    ['a media reader', bytesMedia(new Uint8Array([1]))],
  ])('refuses %s instead of a spool reader', (_, reader) => {
    const make = () => new SpooledArtifact(reader as SpoolReader)
    expect(make).toThrow(expect.objectContaining({ code: 'E_NOT_A_SPOOL_READER' }))
  })

  it('is not changed by later changes of its reader', async () => {
    const reader = { ...(await spool.write('one\ntwo')) }
    const held = new SpooledArtifact(reader)
    const before = JSON.stringify(held)
    const other = await spool.write('three')
    Object.assign(reader, other)
    expect(JSON.stringify(held)).toBe(before)
    expect(await held.asString()).toBe('one\ntwo')
  })

  it('refuses a reader that says something else each time', async () => {
    let asked = 0
    const reader = {
      ...(await spool.write('one')),
      get lineCount() {
        return asked++ < 2 ? 1 : -1
      },
    }
    expect(() => new SpooledArtifact(reader)).toThrow('`lineCount` is missing or of the wrong type')
  })

  it('takes a limit that is no number for one that is exceeded', async () => {
    const limit = { limit: 3 } as unknown as number
    const asked = (await artifact('four')).asString(limit)
    await expect(asked).rejects.toMatchObject({ code: 'E_LIMIT_EXCEEDED' })
  })
})

describe('SpooledArtifact lines', () => {
  it('gives lines without terminators, counted from 0', async () => {
    const text = await artifact('a\r\nb\n\nc')
    expect(await text.head(2)).toEqual(['a', 'b'])
    expect(await text.tail(2)).toEqual(['', 'c'])
    expect(await text.cat()).toEqual(['a', 'b', '', 'c'])
    expect(await text.cat(1, 3)).toEqual(['b', ''])
    expect(await text.line(3)).toBe('c')
    expect(await text.line(4)).toBeUndefined()
    expect(await text.line(-1)).toBeUndefined()
  })

  it('answers for an empty spool', async () => {
    const empty = await artifact('')
    expect([await empty.head(), await empty.tail(), await empty.cat(0, 5)]).toEqual([[], [], []])
    expect(await empty.asString()).toBe('')
  })

  it('clamps numbers that make no sense', async () => {
    const text = await artifact('a\nb\nc\n')
    expect(await text.head(-5)).toEqual([])
    expect(await text.head(Number.NaN)).toEqual([])
    expect(await text.tail(1e300)).toEqual(['a', 'b', 'c'])
    expect(await text.cat(2, 1)).toEqual([])
    expect(await text.cat(-1e9, Number.POSITIVE_INFINITY)).toEqual(['a', 'b', 'c'])
  })

  it('agrees with splitting the text, for any text', async () => {
    const pieces = fc.constantFrom('a', 'é', '日', '👋', '\n', '\r\n', '\r', ' ', '\u0000')
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), fc.nat(12), async (parts, count) => {
        const whole = parts.join('')
        const lines = whole.split('\n').map((line, i, all) => {
          return i < all.length - 1 ? line.replace(/\r$/, '') : line
        })
        if (lines.at(-1) === '') lines.pop()
        const text = await artifact(whole)
        expect(await text.cat()).toEqual(lines)
        expect(await text.head(count)).toEqual(lines.slice(0, count))
        expect(await text.tail(count)).toEqual(count === 0 ? [] : lines.slice(-count))
        const streamed: string[] = []
        for await (const line of text.lines()) streamed.push(line)
        expect(streamed).toEqual(lines)
      }),
      { numRuns: runs(60) },
    )
  })
})

describe('SpooledArtifact.window', () => {
  const multibyte = 'aé日👋'.repeat(6)

  it('never cuts a sequence or a surrogate pair, at every size and offset', async () => {
    const text = await artifact(`${multibyte}\nnext`)
    const bytes = new TextEncoder().encode(multibyte).length
    for (let offset = 0; offset <= bytes; offset++) {
      for (const maxChars of [4, 5, 6, 7, 50]) {
        const range = { start: 0, end: 1, offset }
        const { lines } = await text.window(range, { maxChars, maxLineChars: maxChars })
        const shown = lines[0]?.text ?? ''
        expect(shown).not.toContain('\ufffd')
        expect(shown.isWellFormed()).toBe(true)
        expect(multibyte).toContain(shown)
      }
    }
  })

  it('pages through a long line without loss or repetition', async () => {
    const text = await artifact(`${multibyte.repeat(100)}\r\nnext`)
    let next: { line: number; offset: number } | undefined = { line: 0, offset: 0 }
    let joined = ''
    for (let pages = 0; next?.line === 0 && pages < 1_000; pages++) {
      const range = { start: 0, end: 1, offset: next.offset }
      const window = await text.window(range, { maxChars: 97, maxLineChars: 97 })
      joined += window.lines[0]?.text
      next = window.next
    }
    expect(joined).toBe(multibyte.repeat(100))
  })

  it('gives at most 10,000 lines, a million characters and 64 KB of a line', async () => {
    const many = new SpooledArtifact(await memorySpool().write('x\n'.repeat(20_000)))
    for (const lines of [await many.cat(), await many.head(1e9), await many.tail(1e9)]) {
      expect(lines).toHaveLength(10_000)
    }
    const wide = new SpooledArtifact(
      await memorySpool().write(`${'y'.repeat(999)}\n`.repeat(3_000)),
    )
    for (const lines of [await wide.cat(), await wide.head(1e9), await wide.tail(1e9)]) {
      const characters = lines.join('\n').length
      expect(characters).toBeLessThanOrEqual(1_000_000)
      expect(characters).toBeGreaterThan(990_000)
    }
    const long = new SpooledArtifact(await memorySpool().write('z'.repeat(200_000)))
    for (const [line] of [await long.cat(), await long.head(), await long.tail()]) {
      expect(line).toHaveLength(65_536)
    }
    expect(await long.line(0)).toHaveLength(65_536)
  })

  it('treats one line of 50 MB as safely as many short ones', async () => {
    const stored = await spool.write(endless('x日', 50_000_000))
    const { reader, bytes } = counting(stored)
    const text = new SpooledArtifact(reader)
    expect((await text.head(5))[0]?.length).toBeLessThanOrEqual(65_536)
    expect((await text.tail(5))[0]?.length).toBeLessThanOrEqual(65_536)
    expect((await text.line(0))?.length).toBeLessThanOrEqual(65_536)
    expect((await text.grep('日x')).lines[0]?.text.length).toBeLessThanOrEqual(400)
    expect(bytes()).toBeLessThan(2_000_000)
  })
})

describe('SpooledArtifact.grep', () => {
  it('finds lines with their numbers, context and a cursor', async () => {
    const text = await artifact(Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n'))
    const first = await text.grep('line \\d*5', { maxMatches: 2, context: 1 })
    expect(first.lines.map(({ line, isMatch }) => [line, isMatch])).toEqual([
      [4, false],
      [5, true],
      [6, false],
      [14, false],
      [15, true],
      [16, false],
    ])
    const second = await text.grep('line \\d*5', { cursor: String(first.cursor) })
    expect(second.lines.map(({ text: shown }) => shown)).toEqual(['line 25'])
    expect(second.cursor).toBeUndefined()
  })

  it('takes a pattern literally when asked', async () => {
    const text = await artifact('a.c\nabc')
    expect((await text.grep('A.C', { literal: true, ignoreCase: true })).matches).toBe(1)
  })
})

describe('SpooledArtifact.grep with a RegExp', () => {
  const lines = [
    'GET /cart 200',
    'get /pay 503',
    'GET /pay/1 503',
    '',
    'naïve 日本 👋',
    'a.b',
    'aXb',
  ]
  const expressions = [
    /^get/i,
    /^GET \/pay\/\d+ 5\d\d$/,
    /(?<verb>GET|POST) .*3$/,
    /\u{1f44b}$/u,
    /a.b/,
    /a\.b/g,
    /^$/m,
    /[^\x00-\x7f]/s,
    /\bpay\b/,
  ]

  it.each(expressions)('finds the lines that %s matches', async (expression) => {
    const { lines: found } = await (await artifact(lines.join('\n'))).grep(expression)
    const plain = new RegExp(expression.source, expression.flags.replace('g', ''))
    expect(found.map(({ text }) => text)).toEqual(lines.filter((line) => plain.test(line)))
  })

  it('lets options go before flags, and refuses what the engine lacks', async () => {
    const text = await artifact('ERROR\nerror')
    expect((await text.grep(/error/i)).matches).toBe(2)
    expect((await text.grep(/error/i, { ignoreCase: false })).matches).toBe(1)
    const refused = { code: 'E_PATTERN_UNSUPPORTED' }
    await expect(text.grep(/(?<=x)error/)).rejects.toMatchObject(refused)
    await expect(text.grep(/error/y)).rejects.toMatchObject(refused)
    await expect(text.grep({} as RegExp)).rejects.toMatchObject(refused)
  })
})

describe('SpooledArtifact.asString', () => {
  it('gives back every character, the byte order mark included', async () => {
    expect(await (await artifact('\ufeffa\r\n')).asString()).toBe('\ufeffa\r\n')
  })

  it('refuses more than its limit', async () => {
    const refused = (await artifact('abc')).asString(2)
    await expect(refused).rejects.toSatisfy((e) => isBobbinError(e, 'E_LIMIT_EXCEEDED'))
  })
})

describe('SpooledArtifact.estimateTokens', () => {
  it('counts a small text exactly and samples a large one', async () => {
    const sentence = 'The quick brown fox jumps over the lazy dog.\n'
    const exact = await (await artifact(sentence)).estimateTokens()
    expect(exact).toEqual({ tokens: 10, isEstimate: false })
    const stored = await spool.write(sentence.repeat(60_000))
    const { reader, bytes } = counting(stored)
    const sampled = await new SpooledArtifact(reader).estimateTokens()
    expect(sampled.isEstimate).toBe(true)
    expect(Math.abs(sampled.tokens / 600_000 - 1)).toBeLessThan(0.03)
    expect(bytes()).toBeLessThan(300_000)
  })
})

async function* endless(unit: string, bytes: number): AsyncGenerator<string> {
  const chunk = unit.repeat(Math.ceil(1_000_000 / unit.length))
  const size = new TextEncoder().encode(chunk).length
  for (let written = 0; written < bytes; written += size) yield chunk
}
