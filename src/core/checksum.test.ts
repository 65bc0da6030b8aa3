import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checksum } from './checksum.ts'
import { sha256Hex } from './hash.node.ts'
import { CANONICAL_DEPTH_LIMIT, canonicalStringify } from './json/canonical.ts'
import { normalizeArguments } from './json/strict-json.ts'

const naive = (tool: string, args: unknown) => sha256Hex(canonicalStringify({ tool, args }))

describe('checksum', () => {
  it('is the SHA-256 of the canonical JSON of tool and arguments', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (tool, args) => {
        expect(checksum(tool, args)).toBe(naive(tool, args))
      }),
    )
  })

  it('is a known digest for a known call', () => {
    expect(checksum('add', { b: 2, a: 1 })).toBe(sha256Hex('{"args":{"a":1,"b":2},"tool":"add"}'))
  })

  it.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a value that looks at its key', { toJSON: (key: string) => key }],
    ['large arguments', { rows: Array.from({ length: 100 }, (_, i) => ({ id: i, at: i })) }],
  ])('equals the plain form for %s', (_, args) => {
    expect(checksum('tool', args)).toBe(naive('tool', args))
  })

  it('counts the object around the arguments as a level', () => {
    let args: object = {}
    for (let level = 2; level < CANONICAL_DEPTH_LIMIT; level++) args = { args }
    expect(checksum('tool', args)).toBe(naive('tool', args))
    expect(() => checksum('tool', { args })).toThrow(
      expect.objectContaining({ code: 'E_JSON_TOO_DEEP' }),
    )
    expect(() => naive('tool', { args })).toThrow(
      expect.objectContaining({ code: 'E_JSON_TOO_DEEP' }),
    )
  })

  it('is that of the tool asked for, also where that of another is known', () => {
    const args = normalizeArguments({ x: 1 })
    for (const tool of ['a', 'b', 'a']) expect(checksum(tool, args)).toBe(naive(tool, args))
  })

  it('is that of the tool asked for, whatever tool was asked for before', () => {
    const tools = ['a', 'a', '"', '"', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(65), '', 'a']
    for (const tool of tools) expect(checksum(tool, { x: 1 })).toBe(naive(tool, { x: 1 }))
  })

  it('differs between tools and between arguments', () => {
    const digests = [
      checksum('a', {}),
      checksum('b', {}),
      checksum('a', { x: 1 }),
      checksum('a', { x: '1' }),
    ]
    expect(new Set(digests).size).toBe(digests.length)
  })
})
