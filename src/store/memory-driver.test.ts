import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { SmallText } from '../spool/small-text.ts'
import type { NewEntry } from './entry.ts'
import { LastingEntry } from './lasting-entry.ts'
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

/** Intents of turns, times, epochs and conversations that change in turn, and turns that end together. */
async function mixedLog(entryOf: (turnId: string, id: string) => NewEntry) {
  let now = 1_000
  const randomBytes = (length: number) => new Uint8Array(length).fill(3)
  const store = memoryStore({ clock: { now: () => now }, randomBytes })
  const end: NewEntry = { kind: 'turn-end', turnId: 't', data: { status: 'completed' } }
  const append = (conversation: string, epoch: number, ...entries: NewEntry[]) =>
    store.append(conversation, epoch, entries, [], { readBack: false })
  for (const conversation of ['a', 'b']) await store.acquire(conversation, { owner: 'me' })
  await append('a', 1, entryOf('t', '1'), entryOf('t', '2'))
  await append('b', 1, entryOf('t', '1'))
  await append('a', 1, entryOf('t', '3'))
  await append('a', 1, entryOf('u', '4'))
  now++
  await append('a', 1, entryOf('u', '5'))
  await store.acquire('a', { owner: 'me', force: true })
  await append('a', 2, entryOf('u', '6'))
  await append('b', 1, entryOf('u', '2'))
  await append('a', 2, end, entryOf('u', '7'), end)
  await append('b', 1, entryOf('u', '3'))
  for (const entries of [[entryOf('v', '7')], [entryOf('v', '8'), entryOf('v', '8')]]) {
    const duplicate = { code: 'E_DUPLICATE_ENTRY' }
    await expect(append('a', 2, ...entries)).rejects.toMatchObject(duplicate)
  }
  const stale = { code: 'E_STALE_RUNNER' }
  await expect(append('a', 1, entryOf('v', '9'))).rejects.toMatchObject(stale)
  expect((await store.verify({ conversation: 'a' })).faults).toEqual([])
  return (await store.find({})).entries
}

it('gives what never changes as if it had been written out at once', async () => {
  const fixed = { tool: 'read', args: {}, checksum: 'x', idempotencyKey: 'k', createdAt: '' }
  const held = await mixedLog((turnId, id) =>
    LastingEntry.of('intent', turnId, Object.freeze({ id, ...fixed })),
  )
  const written = await mixedLog((turnId, id) => ({
    kind: 'intent',
    turnId,
    data: { id, ...fixed },
  }))
  expect(held).toEqual(written)
  expect(held.map(({ conversation, entry }) => `${conversation}${entry.seq}`).join(' ')).toBe(
    'a1 a2 b1 a3 a4 a5 a6 b2 a7 a8 a9 b3',
  )
})
