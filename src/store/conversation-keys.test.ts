import { describe, expect, it } from 'vitest'
import { memoryStore } from './memory-store.ts'

describe('the key of a conversation', () => {
  it('stays what it was, whatever becomes of the bytes that were given', async () => {
    const store = memoryStore()
    const key = Buffer.alloc(32, 7)
    await store.acquire('c', { owner: 'test', key })
    key.fill(0)
    expect(await store.key('c')).toEqual(new Uint8Array(32).fill(7))
  })

  it('is nobody else’s to change', async () => {
    const made: Buffer[] = []
    const randomBytes = (length: number) => {
      const bytes = Buffer.alloc(length, 9)
      made.push(bytes)
      return bytes
    }
    const store = memoryStore({ randomBytes })
    await store.acquire('c', { owner: 'test' })
    for (const bytes of made) bytes.fill(0)
    ;(await store.key('c')).fill(1)
    expect(await store.key('c')).toEqual(new Uint8Array(32).fill(9))
  })
})
