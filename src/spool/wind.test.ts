import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#hash'
import { wind } from './wind.ts'

describe('wind', () => {
  it.each([10, 300_000])(
    'hashes the bytes that it puts, also when all %d of them are changed meanwhile',
    async (size) => {
      const data = new Uint8Array(size).fill(7)
      const stored: number[] = []
      const winding = wind(data, {
        async put(block) {
          await new Promise((resolve) => setTimeout(resolve, 1))
          for (const byte of block) stored.push(byte)
        },
      })
      data.fill(9)
      const { digest } = await winding
      expect(digest).toBe(sha256Hex(Uint8Array.from(stored)))
    },
  )
})
