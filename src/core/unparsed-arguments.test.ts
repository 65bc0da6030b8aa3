import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from './hash.node.ts'
import { normalizeArguments } from './json/strict-json.ts'
import { unparsedArguments } from './unparsed-arguments.ts'

interface Unparsed {
  readonly sha256: string
  readonly bytes: number
  readonly head: string
}

const unparsed = (received: string | Uint8Array) =>
  unparsedArguments(received)['$unparsed'] as unknown as Unparsed

describe('unparsedArguments', () => {
  it('gives digest, size in bytes and beginning of the text', () => {
    expect(unparsedArguments('{"é":')).toEqual({
      $unparsed: { sha256: sha256Hex('{"é":'), bytes: 6, head: '{"é":' },
    })
  })

  it('begins a value without a JSON form as a program would write it', () => {
    const { head } = unparsedArguments({ n: 10n })['$unparsed'] as unknown as Unparsed
    expect(head).toBe('{"n":10n}')
  })

  it('gives the same for a text and for its UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400, size: 'max' }), (text) => {
        expect(unparsedArguments(new TextEncoder().encode(text))).toEqual(unparsedArguments(text))
      }),
    )
  })

  it('cuts the beginning between characters, and makes it well-formed', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 150, maxLength: 300, size: 'max' }),
        (text) => {
          const { head } = unparsed(text)
          expect(head.isWellFormed()).toBe(true)
          expect(head.length).toBeLessThanOrEqual(200)
          expect(text.toWellFormed().startsWith(head)).toBe(true)
          expect(head.length).toBeGreaterThanOrEqual(Math.min(text.length, 199))
        },
      ),
    )
    expect(unparsed(`${'x'.repeat(199)}😂`).head).toBe('x'.repeat(199))
    expect(unparsed(`${'x'.repeat(198)}😂y`).head).toBe(`${'x'.repeat(198)}😂`)
  })

  it('tells broken texts apart, even by halves of surrogate pairs', () => {
    const broken = [
      '{"a":"\ud800"}',
      '{"a":"\ud801"}',
      '{"a":"\udc00"}',
      '{"a":"\ufffd"}',
      '{"a":"\\ud800"}',
      '{"a":"',
    ]
    expect(new Set(broken.map((text) => unparsed(text).sha256)).size).toBe(broken.length)
  })

  it('takes bytes that are not UTF-8', () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0xfe)
    expect(unparsed(bytes)).toEqual({ sha256: sha256Hex(bytes), bytes: 3, head: '{\ufffd\ufffd' })
  })

  it('keeps only the beginning of 50 MB', () => {
    const { bytes, head } = unparsed('é'.repeat(25_000_000))
    expect({ bytes, head }).toEqual({ bytes: 50_000_000, head: 'é'.repeat(200) })
  })

  it('gives arguments that are strict JSON themselves', () => {
    const args = unparsedArguments('{"a":"\ud800')
    expect(normalizeArguments(args)).toEqual(args)
    expect(Object.isFrozen(args) && Object.isFrozen(args['$unparsed'])).toBe(true)
  })
})
