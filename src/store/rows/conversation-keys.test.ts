import { describe, expect, it } from 'vitest'
import { memoryStore } from '../memory/memory-store.ts'

describe('the key of a conversation', () => {
  it('does not change when the given bytes change', async () => {
    const store = memoryStore()
    const key = Buffer.alloc(32, 7)
    await store.acquire('c', { owner: 'test', key })
    key.fill(0)
    expect(await store.key('c')).toEqual(new Uint8Array(32).fill(7))
  })

  it('cannot be changed by the caller', async () => {
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

  it('is made once, not each time that the conversation is taken', async () => {
    let made = 0
    const randomBytes = (length: number) => new Uint8Array(length).fill(++made)
    const store = memoryStore({ randomBytes })
    for (let epoch = 1; epoch <= 3; epoch++) {
      await store.acquire('c', { owner: 'test' })
      await store.release('c', epoch)
    }
    expect(made).toBe(1)
    expect(await store.key('c')).toEqual(new Uint8Array(32).fill(1))
  })

  it.each([null, 'x'.repeat(32), new Uint8Array(31), new Uint8Array(33)])(
    'has 32 bytes, which %j has not',
    async (key) => {
      const acquiring = memoryStore().acquire('c', { owner: 'test', key: key as Uint8Array })
      await expect(acquiring).rejects.toMatchObject({ data: { path: 'key' } })
    },
  )
})
