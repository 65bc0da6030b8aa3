import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import loadWabt from 'wabt'
import { runs } from '../../../test/runs.ts'
import { plainScanner } from './plain-scanner.ts'
import { MAX_NEEDLE_BYTES } from './scanner.ts'
import type { Scanner } from './scanner-contract.ts'
import { SCANNER_MODULE } from './scanner-module.ts'
import { simdScanner } from './simd-scanner.ts'

const simd = simdScanner() as Scanner
const WINDOW = 256 * 1024
const encode = (text: string) => new TextEncoder().encode(text)

/** Few distinct bytes, so that near misses and matches are frequent. */
const fewBytes = (max: number) =>
  fc.array(fc.constantFrom(10, 65, 97, 98), { maxLength: max }).map((list) => Uint8Array.from(list))

describe('the scanner module', () => {
  it('is what `scanner.wat` assembles to', async () => {
    const text = await readFile(new URL('./scanner.wat', import.meta.url), 'utf8')
    const wabt = await loadWabt()
    const { buffer } = wabt.parseWat('scanner.wat', text, { simd: true }).toBinary({})
    expect(Buffer.from(buffer).toString('base64')).toBe(SCANNER_MODULE)
  })

  it('runs on this platform', () => {
    expect(simdScanner()).toBeDefined()
  })
})

describe('Scanner.count', () => {
  it('agrees between WebAssembly and plain JavaScript', () => {
    fc.assert(
      fc.property(fewBytes(9000), fc.nat(40), (bytes, skip) => {
        const part = bytes.subarray(skip)
        expect(simd.count(part, 10)).toBe(plainScanner.count(part, 10))
      }),
    )
  })

  it('does not overflow its lanes on a stretch of nothing but matches', () => {
    for (const size of [0, 1, 31, 32, 4063, 4064, 4065, 8192, WINDOW - 1, WINDOW, WINDOW * 2 + 5]) {
      expect(simd.count(new Uint8Array(size).fill(10), 10)).toBe(size)
    }
  })
})

describe('Scanner.finder', () => {
  const all = (which: Scanner, bytes: Uint8Array, needle: Uint8Array, fold = false) => {
    const next = which.finder(needle, fold).within(bytes)
    const found: number[] = []
    for (let at = next(0); at >= 0 && found.length < 10_000; at = next(at + 1)) found.push(at)
    return found
  }

  it('finds a lone needle wherever it stands, in stretches of any length', () => {
    const wrong: number[][] = []
    for (const needle of ['a', 'ab', 'abcdefg', 'a'.repeat(MAX_NEEDLE_BYTES)].map(encode)) {
      for (let size = needle.length; size < 210; size++) {
        for (let at = 0; at + needle.length <= size; at += 1 + (size % 3)) {
          const bytes = new Uint8Array(size)
          bytes.set(needle, at)
          const found = all(simd, bytes, needle)
          if (found.length !== 1 || found[0] !== at) wrong.push([size, at, ...found])
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it('agrees between WebAssembly and plain JavaScript', () => {
    const needles = fewBytes(MAX_NEEDLE_BYTES).filter((needle) => needle.length > 0)
    fc.assert(
      fc.property(fewBytes(400), needles, fc.boolean(), (bytes, needle, fold) => {
        expect(all(simd, bytes, needle, fold)).toEqual(all(plainScanner, bytes, needle, fold))
      }),
      { numRuns: runs(500) },
    )
  })

  it('finds letters of either case when it folds', () => {
    const bytes = new TextEncoder().encode('xx NeEdLe needle NEEDLE')
    const needle = new TextEncoder().encode('Needle')
    for (const which of [simd, plainScanner])
      expect(all(which, bytes, needle, true)).toEqual([3, 10, 17])
  })

  it('finds what lies across the border of two windows', () => {
    const needle = new TextEncoder().encode('needle')
    for (let shift = 0; shift <= needle.length + 1; shift++) {
      const bytes = new Uint8Array(WINDOW * 2 + 100)
      bytes.set(needle, WINDOW - shift)
      expect(all(simd, bytes, needle)).toEqual([WINDOW - shift])
    }
  })

  it('keeps two searches that take turns apart', () => {
    const needle = Uint8Array.of(7)
    const one = simd.finder(needle).within(Uint8Array.of(7, 0, 7))
    const two = simd.finder(needle).within(Uint8Array.of(0, 7, 0))
    expect([one(0), two(0), one(1), two(2), one(3)]).toEqual([0, 1, 2, -1, -1])
    simd.count(Uint8Array.of(1, 1, 1), 1)
    expect(one(0)).toBe(0)
  })
})
