import { describe, expect, it } from 'vitest'
import { memorySpool } from '../../spool/memory-spool.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { memoryStore } from '../memory/memory-store.ts'

describe('Store.verify', () => {
  it.each<[thrown: unknown, said: string]>([
    [new Error('no disk'), 'no disk'],
    ['no disk', 'no disk'],
    [null, 'null'],
  ])('reports the error of a spool that throws %s', async (thrown, said) => {
    const store = memoryStore()
    const digest = 'd'.repeat(64)
    const results = sample.artifact(digest, 100_000)
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, [sample.settlement('t', 'c1', { results })])
    const spool = { ...memorySpool(), read: () => Promise.reject(thrown) }
    const { faults } = await store.verify({ conversation: 'c', spool })
    expect(faults).toContainEqual({
      fault: 'unreadable',
      part: 'spool',
      id: digest,
      message: expect.stringContaining(`cannot be read: ${said}`),
    })
  })
})
