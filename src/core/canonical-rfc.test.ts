import { describe, expect, it } from 'vitest'
import { isThorough } from '../../test/runs.ts'
import {
  NUMBER_TEST_COUNTED,
  NUMBER_TEST_DIGESTS,
  NUMBER_TEST_EDGES,
  RFC_8785_NUMBERS,
  RFC_8785_VECTORS,
} from './fixtures/rfc-8785.ts'
import { sha256Hex, sha256Stream } from './hash.node.ts'
import { canonicalStringify } from './json/canonical.ts'

const words = new BigUint64Array(1)
const doubles = new Float64Array(words.buffer)

function doubleOf(bits: bigint): number {
  words[0] = bits
  return doubles[0] as number
}

function hexOf(double: number): string {
  doubles[0] = double
  return (words[0] as bigint).toString(16)
}

/** The sequence of the number test, made anew from its published description. */
function* numberTest(): Generator<number> {
  for (const bits of NUMBER_TEST_EDGES) yield doubleOf(BigInt(`0x${bits}`))
  for (let i = 0; i < NUMBER_TEST_COUNTED; i++) yield doubleOf(0x0010000000000000n + BigInt(i))
  let block = Buffer.alloc(32)
  for (;;) {
    block = Buffer.from(sha256Hex(block), 'hex')
    for (let at = 0; at < 32; at += 8) {
      const double = block.readDoubleLE(at)
      if (double !== 0 && Number.isFinite(double)) yield double
    }
  }
}

describe('canonicalStringify, held to RFC 8785', () => {
  it.each(RFC_8785_VECTORS)('writes the vector $name as published', ({ input, output }) => {
    expect(canonicalStringify(JSON.parse(input))).toBe(output)
  })

  it.each(RFC_8785_NUMBERS)('writes the double 0x%s as %s', (bits, text) => {
    const double = doubleOf(BigInt(`0x${bits}`))
    expect(canonicalStringify(double)).toBe(text)
    expect(canonicalStringify({ b: double, a: [double] })).toBe(`{"a":[${text}],"b":${text}}`)
  })

  it('writes doubles with the published digest, each parsing back to itself', () => {
    const LINES = isThorough ? 1_000_000 : 100_000
    const BATCH = 20_000
    const digest = sha256Stream()
    const encoder = new TextEncoder()
    const numbers = numberTest()
    const changed: number[] = []
    for (let line = 0; line < LINES; line += BATCH) {
      // One array per batch goes through the same code as arguments do; its text is split again.
      const batch = Array.from({ length: BATCH }, () => numbers.next().value as number)
      const texts = canonicalStringify(batch).slice(1, -1).split(',')
      digest.update(encoder.encode(batch.map((n, i) => `${hexOf(n)},${texts[i]}\n`).join('')))
      changed.push(...batch.filter((n, i) => Number(texts[i]) !== n))
    }
    expect(changed).toEqual([])
    expect(digest.digestHex()).toBe(NUMBER_TEST_DIGESTS[LINES])
  })
})
