import { describe, expect, it } from 'vitest'
import { memorySpool } from '../spool/memory-spool.ts'
import { memoryStore } from '../store/memory-store.ts'
import { MAX_BLOB_BYTES } from '../store/store.ts'
import { resultSpool } from './small-results.ts'

describe('resultSpool', () => {
  it('sends to the spool what comes when too much waits for its settlement', async () => {
    const results = resultSpool(memoryStore(), memorySpool())
    const texts = Array.from({ length: 300 }, (_, n) => `${n} `.padEnd(MAX_BLOB_BYTES, 'x'))
    const readers = []
    for (const text of texts) readers.push(await results.write(text))
    const held = readers.filter(({ digest }) => results.uncommitted(digest) !== undefined)
    expect(held.length * MAX_BLOB_BYTES).toBeLessThanOrEqual(16 * 1024 * 1024)
    for (const { digest } of readers) expect(await results.has(digest)).toBe(true)
    expect(results.writeNow('small')).toBeUndefined()
    for (const { digest } of held) results.committed(digest)
    expect(results.writeNow('small')).toBeDefined()
  })

  it('keeps bytes as they were written, whatever becomes of their buffer', async () => {
    for (const bytes of [new Uint8Array([1, 2, 3]), Buffer.from([1, 2, 3])]) {
      const results = resultSpool(memoryStore(), memorySpool())
      const { digest } = await results.write(bytes)
      bytes.fill(9)
      expect(results.uncommitted(digest)).toEqual(new Uint8Array([1, 2, 3]))
    }
  })
})
