import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ArgumentPreview } from './argument-preview.ts'

function preview(pieces: readonly string[]): unknown {
  const reader = new ArgumentPreview()
  for (const piece of pieces) reader.push(piece)
  return reader.value
}

/** True when `shown` could grow into `whole` by adding to it. */
function isBeginning(shown: unknown, whole: unknown): boolean {
  if (typeof shown === 'string') return typeof whole === 'string' && whole.startsWith(shown)
  if (typeof shown !== 'object' || shown === null) return Object.is(shown, whole)
  if (typeof whole !== 'object' || whole === null) return false
  return Object.entries(shown).every(
    ([key, value]) =>
      Object.hasOwn(whole, key) && isBeginning(value, (whole as Record<string, unknown>)[key]),
  )
}

describe('ArgumentPreview', () => {
  it('ends with what JSON.parse gives, however the text is cut', () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 30 })
    fc.assert(
      fc.property(fc.jsonValue(), cuts, fc.boolean(), (value, at, spaced) => {
        const text = `[${JSON.stringify(value, null, spaced ? 2 : 0)}]`
        const places = [0, ...at.map((n) => n % text.length), text.length].sort((a, b) => a - b)
        const pieces = places.slice(1).map((end, i) => text.slice(places[i], end))
        expect(preview(pieces)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('shows at every character a beginning of the whole', () => {
    const whole = { city: 'Zü"r\\ich\u0041', days: [1, -2.5e3, [], {}], ok: true, none: null }
    const text = JSON.stringify(whole).replace('A', '\\u0041')
    const reader = new ArgumentPreview()
    for (const character of text) {
      reader.push(character)
      expect(isBeginning(reader.value, whole)).toBe(true)
    }
    expect(reader.value).toEqual(whole)
  })

  it('shows a string while it grows', () => {
    expect(preview(['{"query":"hel', 'lo wor'])).toEqual({ query: 'hello wor' })
  })

  it('keeps what it had when the text turns out to be no JSON', () => {
    const reader = new ArgumentPreview()
    for (const piece of ['{"a":1,', 'oops', '"b":2}']) reader.push(piece)
    expect(reader.isReadable).toBe(false)
    expect(reader.value).toEqual({ a: 1 })
  })

  it('takes `__proto__` for a key like any other', () => {
    const value = preview(['{"__proto__":{"polluted":true}}']) as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__'])
  })

  it('reads 20,000 levels without a stack', () => {
    const reader = new ArgumentPreview()
    reader.push('['.repeat(20_000))
    expect(reader.isReadable).toBe(true)
  })
})
