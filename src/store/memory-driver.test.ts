import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { SmallText } from '../spool/small-text.ts'
import type { NewEntry } from './entry.ts'
import { memoryStore } from './memory-store.ts'
import { MAX_BLOB_BYTES, type StoredBlob } from './store.ts'

/** The bytes of the heap when all that can go is gone. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}

/** A text of its own each time, though it says the same. */
const sameText = () =>
  SmallText.of(Buffer.alloc(MAX_BLOB_BYTES, 'x').toString('latin1'), MAX_BLOB_BYTES) as StoredBlob

it('holds a text once that many calls give', async () => {
  const store = memoryStore()
  const { epoch } = await store.acquire('k', { owner: 'test' })
  await store.append('k', epoch, [], [sameText()])
  const before = heapUsed()
  for (let i = 0; i < 400; i++) await store.append('k', epoch, [], [sameText()])
  expect(heapUsed() - before).toBeLessThan(4 * 1024 * 1024)
  const digest = (sameText() as SmallText).digest
  expect((await store.blob(digest))?.length).toBe(MAX_BLOB_BYTES)
})

it('refuses a blob that is neither bytes nor a text', async () => {
  const store = memoryStore()
  const { epoch } = await store.acquire('k', { owner: 'me' })
  const bytes = new ArrayBuffer(4) as unknown as Uint8Array
  const storing = store.append('k', epoch, [], [bytes], { readBack: false })
  await expect(storing).rejects.toMatchObject({ message: expect.stringContaining('blobs.0') })
  for await (const digest of store.digests('k')) expect.unreachable(digest)
})

it.each([
  [-3, [1, 2, 3]],
  [1.5, [2, 3]],
  [3.5, []],
  [Number.NaN, []],
  [Number.POSITIVE_INFINITY, []],
])('gives the entries from %s on, as a database does', async (from, expected) => {
  const store = memoryStore()
  const { epoch } = await store.acquire('k', { owner: 'me' })
  const end: NewEntry = { kind: 'turn-end', turnId: 't', data: { status: 'completed' } }
  await store.append('k', epoch, [end, end, end])
  const given: number[] = []
  for await (const { seq } of store.entries('k', { from })) given.push(seq)
  expect(given).toEqual(expected)
})
