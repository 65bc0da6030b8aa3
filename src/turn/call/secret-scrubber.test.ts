import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { bytesOf } from '../../spool/spool-input.ts'
import { secretScrubber } from './secret-scrubber.ts'

async function scrubberFor(...values: string[]) {
  const scrubber = secretScrubber((name) => values[Number(name)] as string)
  for (const index of values.keys()) await scrubber.secret?.(String(index))
  return scrubber
}

async function textOf(data: Parameters<typeof bytesOf>[0]): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of bytesOf(data)) text += decoder.decode(bytes, { stream: true })
  return text + decoder.decode()
}

async function* pieces(text: string, size: number) {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('secretScrubber', () => {
  it('gives no secret where there is none', async () => {
    const { secret } = secretScrubber((name) => process.env[`NO_${name}`] as string)
    await expect(secret?.('SUCH_KEY')).rejects.toThrow(
      "There is no secret `SUCH_KEY`: the runner's `secrets` did not return a string for it.",
    )
  })

  it('replaces a secret as it is, in JSON and in URLs', async () => {
    const { text, json } = await scrubberFor('pa"ss wört')
    expect(text('a pa"ss wört b')).toBe('a [secret] b')
    expect(text(JSON.stringify({ key: 'pa"ss wört' }))).toBe('{"key":"[secret]"}')
    expect(text('?key=pa%22ss%20w%C3%B6rt')).toBe('?key=[secret]')
    expect(json({ deep: ['pa"ss wört'], 'pa"ss wört': 1 })).toEqual({
      deep: ['[secret]'],
      '[secret]': 1,
    })
  })

  const SECRET = 'q/a<b> é+\\\\n"🐫\n'
  const inJson = JSON.stringify(SECRET).slice(1, -1)
  const ascii = (text: string, digits: (hex: string) => string = (hex) => hex) =>
    text.replace(
      /[^ -~]|[<>+]/g,
      (unit) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`,
    )
  const upper = (text: string) => text.toUpperCase()
  const lower = (text: string) => text.replace(/%../g, (code) => code.toLowerCase())
  const inUrl = encodeURIComponent(SECRET)
  const inForm = new URLSearchParams({ k: SECRET }).toString().slice(2)
  const FORMS: readonly (readonly [string, string])[] = [
    ['plain', SECRET],
    ['JSON', inJson],
    ['JSON with \\/', inJson.replaceAll('/', '\\/')],
    ['JSON in ASCII', ascii(inJson)],
    ['JSON in ASCII with upper-case digits', ascii(inJson, upper)],
    ['JSON in ASCII with \\/', ascii(inJson).replaceAll('/', '\\/')],
    ['JSON with \\u0022', ascii(inJson).replaceAll('\\"', '\\u0022')],
    ['a URL', inUrl],
    ['a URL with lower-case digits', lower(inUrl)],
    ['a path of a URL', encodeURI(SECRET)],
    ['a form', inForm],
    ['a form with lower-case digits', lower(inForm)],
  ]

  it.each(FORMS)('finds a secret in %s: in text, bytes, streams and keys', async (_, form) => {
    const { text, data, json } = await scrubberFor(SECRET)
    const source = `é-${form}-${form}`
    const clean = 'é-[secret]-[secret]'
    expect(text(source)).toBe(clean)
    expect(json({ [source]: source })).toEqual({ [clean]: clean })
    expect(await textOf(data(new TextEncoder().encode(source)))).toBe(clean)
    for (const size of [1, 2, 3, 7, 64, 1000]) {
      expect(await textOf(data(pieces(source, size)))).toBe(clean)
    }
  })

  it('finds a secret where any of its characters may be escaped', async () => {
    const forms = (char: string) => [
      char,
      `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      `%${char.charCodeAt(0).toString(16)}`,
    ]
    const secret = 'sk-/"live'
    const { text, data } = await scrubberFor(secret)
    const written = fc.tuple(...Array.from(secret, (char) => fc.constantFrom(...forms(char))))
    await fc.assert(
      fc.asyncProperty(written, fc.integer({ min: 1, max: 40 }), async (chars, size) => {
        expect(text(chars.join(''))).toBe('[secret]')
        expect(await textOf(data(pieces(chars.join(''), size)))).toBe('[secret]')
      }),
      { numRuns: runs(40) },
    )
  })

  it('takes no long time for backslashes', async () => {
    const { text } = await scrubberFor(`${'\\'.repeat(40)}x`)
    const source = '\\'.repeat(5000)
    const from = performance.now()
    expect(text(source)).toBe(source)
    expect(performance.now() - from).toBeLessThan(1000)
  })

  it('finds a secret anywhere in many bytes, and keeps the others', async () => {
    const { data } = await scrubberFor('a-long-secret')
    const border = 1024 * 1024
    for (const at of [border - 13, border - 5, border, 2 * border - 1]) {
      const source = new Uint8Array(3 * border).fill(0xe9)
      source.set(new TextEncoder().encode('a-long-secret'), at)
      const clean = data(source) as Uint8Array
      expect(clean.length).toBe(source.length - 5)
      expect(new TextDecoder().decode(clean.subarray(at, at + 8))).toBe('[secret]')
      expect(clean.every((byte, index) => (index - at) >>> 0 < 8 || byte === 0xe9)).toBe(true)
    }
  })

  it('copies what it holds back: a source may reuse its buffer', async () => {
    const { data } = await scrubberFor('a-long-secret')
    async function* reused() {
      const buffer = new Uint8Array(1)
      for (const byte of new TextEncoder().encode('so a-long-secret, so')) {
        buffer[0] = byte
        yield buffer
      }
    }
    expect(await textOf(data(reused()))).toBe('so [secret], so')
  })

  it('keeps JSON what it is when a secret is of digits, or of what JSON is made of', async () => {
    const { json } = await scrubberFor('123456', '":[{"', 'nope')
    const value = { '":[{"': '":[{"', deep: [{ pin: 123456, more: -12345678, other: 7 }] }
    expect(json(value)).toEqual({
      '[secret]': '[secret]',
      deep: [{ pin: '[secret]', more: '[secret]', other: 7 }],
    })
    const hidden = JSON.parse('{"__proto__":{"a":"nope"},"line":"\\nope","no":[null,true]}')
    expect(JSON.stringify(json(hidden))).toBe(
      '{"__proto__":{"a":"[secret]"},"line":"\\nope","no":[null,true]}',
    )
  })

  it('takes nothing for null, which a handler may report by a slip', async () => {
    const { json } = await scrubberFor('a-long-secret')
    expect(json(undefined as never)).toBe(null)
  })

  it('replaces the longer of two secrets where one holds the other', async () => {
    const { text } = await scrubberFor('abcd', 'abcdefgh')
    expect(text('abcdefgh abcd')).toBe('[secret] [secret]')
  })

  it.each([
    ['abcd', 'abcdefgh'],
    ['abcdefgh', 'abcd'],
    ['cdef', 'abcdefgh'],
    ['efgh', 'abcdefgh'],
  ])('leaves nothing of the longer in bytes, wherever they are cut: %s, %s', async (...secrets) => {
    const { data } = await scrubberFor(...secrets)
    const source = `-abcdefgh ${secrets.join(' ')} abcdefg`
    const clean = await textOf(data(new TextEncoder().encode(source)))
    expect(clean).toMatch(/^-\[secret\] \[secret\] \[secret\] /)
    for (let size = 1; size <= source.length; size++) {
      expect(await textOf(data(pieces(source, size)))).toBe(clean)
    }
  })

  it('finds a secret in a stream wherever the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 0, maxLength: 40 }),
        fc.constantFrom('s3cret', 'ananas', 'aaaa', 'größer'),
        fc.integer({ min: 1, max: 9 }),
        async (around, secret, size) => {
          const source = `${around}${secret}${around}${secret}${secret}`.toWellFormed()
          const { data } = await scrubberFor(secret)
          const cleaned = await textOf(data(pieces(source, size)))
          expect(cleaned).not.toContain(secret)
          expect(cleaned).toBe(await textOf(data(new TextEncoder().encode(source))))
        },
      ),
      { numRuns: runs(40) },
    )
  })

  it('knows a secret that a stream asks for while it is read', async () => {
    const scrubber = secretScrubber(() => 'asked late')
    async function* stream() {
      yield 'before '
      yield `and ${await scrubber.secret?.('x')} after`
    }
    expect(await textOf(scrubber.data(stream()))).toBe('before and [secret] after')
  })

  it('leaves alone what it was not asked for, and values too short to be secret', async () => {
    const { text, data } = await scrubberFor('', 'abc')
    expect(text('abc')).toBe('abc')
    expect(data('abc')).toBe('abc')
    expect(secretScrubber(undefined).secret).toBeUndefined()
  })
})
