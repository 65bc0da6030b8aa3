import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { normalizeArguments } from '../../core/json/strict-json.ts'
import { Message, type RawMessage } from '../../records/message.ts'
import { type RawToolCall, ToolCall } from '../../records/tool-call.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import { createStore } from '../core/create-store.ts'
import type { Entry, NewEntry } from '../entry.ts'
import { MAX_BLOB_BYTES, type Store } from '../store.ts'
import { isFixed } from './fixed-entry.ts'
import { memoryDriver } from './memory-driver.ts'
import { memoryStore } from './memory-store.ts'

const KEY = new Uint8Array(32).fill(7)
const args = normalizeArguments({ z: [1, { b: 'ü', a: null }], a: true })
const RESULT = new TextEncoder().encode('one\ntwo')
const wire = Object.freeze({ provider: 'p', api: 'a', type: 't', origin: 'natural' as const })
const intent = { id: 'c1', tool: 'read', args, checksum: 'x', idempotencyKey: 'k', createdAt: '' }
const end: NewEntry = {
  kind: 'turn-end',
  turnId: 't',
  data: Object.freeze({ status: 'completed' as const }),
}

async function callOf(over: Partial<RawToolCall> = {}): Promise<ToolCall> {
  const results = new SpooledArtifact(await memorySpool().write('one\ntwo'))
  const fixed = { id: 'c1', tool: 'read', args, isComplete: true, isError: false } as const
  return new ToolCall({ ...fixed, results, wire, createdAt: 5, completedAt: 9, ...over })
}

const media = new Media({
  kind: 'image',
  mimeType: 'image/png',
  filename: 'a',
  trustTier: 'third-party',
  modalityHazard: 'inert',
  reader: bytesMedia(new Uint8Array([1]), { digest: 'a'.repeat(64) }),
})

const messageOf = (over: Partial<RawMessage> = {}) =>
  new Message({ id: 'm1', role: 'user', content: 'ü "x"', createdAt: 5, ...over })

/** An entry whose data is a record. */
const recordEntry = (record: Message | ToolCall): NewEntry => ({
  kind: record instanceof Message ? 'message' : 'settlement',
  turnId: 't',
  data: record as unknown as JsonObject,
})

/** The same entry as plain JSON, which could change and is written out at once. */
const plain = (entry: NewEntry) => JSON.parse(JSON.stringify(entry)) as NewEntry

async function fixedEntries(): Promise<NewEntry[]> {
  const item = { type: 'call', id: 'c1', tool: 'read', args, wire, executedBy: 'runner' } as const
  return [
    { kind: 'turn-start', turnId: 't', data: Object.freeze({}) },
    recordEntry(messageOf()),
    { kind: 'history-item', turnId: 't', data: Object.freeze(item) },
    { kind: 'intent', turnId: 't', data: Object.freeze({ ...intent, wire }) },
    recordEntry(await callOf()),
    end,
  ]
}

async function digestsOf(store: Store): Promise<string[]> {
  const digests: string[] = []
  for await (const digest of store.digests('c')) digests.push(digest)
  return digests
}

/** Two turns under one key: the log as it is read back, and its references. */
async function logOf(entries: readonly NewEntry[]) {
  const randomBytes = (length: number) => new Uint8Array(length).fill(3)
  const store = memoryStore({ clock: { now: () => 1_000 }, randomBytes })
  const { epoch } = await store.acquire('c', { owner: 'test' })
  await store.append('c', epoch, entries, [RESULT])
  await store.append('c', epoch, [{ ...end, turnId: 't2' }])
  const log: Entry[] = []
  for await (const entry of store.entries('c')) log.push(entry)
  expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  return { log, digests: await digestsOf(store) }
}

describe('entries that are written out later', () => {
  it('have the same bytes, seals and references as entries that are written at once', async () => {
    const entries = await fixedEntries()
    expect(entries.map(isFixed)).toEqual(entries.map(() => true))
    expect(entries.map(plain).map(isFixed)).toEqual(entries.map(() => false))
    const [later, atOnce] = [await logOf(entries), await logOf(entries.map(plain))]
    expect(later).toEqual(atOnce)
    expect(later.log.flatMap(({ seal }) => seal ?? [])).toHaveLength(2)
    expect(later.digests).toHaveLength(1)
  })

  it.each<[string, (store: Store) => Promise<unknown>, unknown]>([
    ['count', (store) => store.count({ tool: 'read' }), 2],
    ['get', async (store) => (await store.get('c', 'settlement', 'c1'))?.seq, 5],
    ['find', async (store) => (await store.find({ settlement: 'ok' })).entries.length, 1],
    ['digests', async (store) => (await digestsOf(store)).length, 1],
    ['conversation', async (store) => (await store.conversation('c'))?.length, 6],
    ['conversations', async (store) => (await store.conversations())[0]?.seal?.length, 64],
    ['acquire', async (store) => (await store.acquire('c', { owner: 'b', force: true })).epoch, 2],
  ])('are seen by `%s` if it is the first to read', async (_, read, expected) => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, await fixedEntries(), [RESULT])
    expect(await read(store)).toEqual(expected)
  })

  it('keep their ids unique before and after they are written out', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const entry = recordEntry(await callOf())
    const duplicate = { code: 'E_DUPLICATE_ENTRY' }
    await expect(store.append('c', epoch, [entry, entry])).rejects.toMatchObject(duplicate)
    await store.append('c', epoch, [entry])
    for (const again of [entry, plain(entry), entry]) {
      await expect(store.append('c', epoch, [again])).rejects.toMatchObject(duplicate)
    }
  })

  it('are sealed under a key that only the application holds, also after its release', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test', key: KEY })
    await store.append('c', epoch, await fixedEntries(), [RESULT])
    await store.release('c', epoch)
    expect((await store.conversation('c'))?.seal).toMatch(/^[0-9a-f]{64}$/)
    expect((await store.verify({ conversation: 'c', key: KEY })).faults).toEqual([])
  })

  it('are redacted', async () => {
    const store = memoryStore({ redact: ({ kind }) => (kind === 'intent' ? ['/args/a'] : []) })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, await fixedEntries())
    const stored = await store.get('c', 'intent', 'c1')
    expect(stored?.data.args).toEqual({ a: '[redacted]', z: args['z'] })
    expect(stored?.redacted).toEqual(['/args/a'])
  })

  it('are sealed after any number of turns', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    for (let turn = 0; turn < 2_000; turn++) {
      await store.append('c', epoch, [{ ...end, turnId: `t${turn}` }])
    }
    expect((await store.conversation('c'))?.seal).toMatch(/^[0-9a-f]{64}$/)
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })

  it('are not prepared until they are read', async () => {
    const driver = memoryDriver()
    let prepared = 0
    const store = createStore({
      ...driver,
      append: (conversation, epoch, plan) =>
        driver.append(conversation, epoch, {
          ...plan,
          prepare(state) {
            prepared++
            return plan.prepare(state)
          },
        }),
    })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, await fixedEntries())
    await store.release('c', epoch)
    expect(prepared).toBe(0)
    await store.conversation('c')
    await store.conversation('c')
    expect(prepared).toBe(1)
  })
})

describe('isFixed', () => {
  it.each<[string, Partial<RawMessage>]>([
    ['a long text', { content: 'x'.repeat(64 * 1024 + 1) }],
    ['attachments', { attachments: [media] }],
    ['a provider’s state', { providerData: { api: 'a', data: 1 } }],
  ])('is false for a message with %s', (_, over) => {
    expect(isFixed(recordEntry(messageOf(over)))).toBe(false)
  })

  it.each([
    ['text of any length', { results: new Tokenizable('x') }],
    ['changed arguments', { effectiveArgs: { a: 1 } }],
    ['the text received', { rawArgs: '{' }],
    ['a provider’s state', { providerData: { api: 'a', data: 1 } }],
  ])('is false for a call with %s', async (_, over) => {
    expect(isFixed(recordEntry(await callOf(over)))).toBe(false)
  })

  it.each<[string, object]>([
    ['that can change', { ...intent }],
    ['with a part that can change', Object.freeze({ ...intent, wire: { ...wire } })],
    [
      'with a frozen date, which can change',
      Object.freeze({ ...intent, at: Object.freeze(new Date()) }),
    ],
    ['with a number that JSON cannot hold', Object.freeze({ ...intent, at: 1n })],
    ['that is large', Object.freeze({ ...intent, text: 'x'.repeat(64 * 1024) })],
    ['that contains itself', circular()],
  ])('is false for an intent %s', (_, data) => {
    expect(isFixed({ kind: 'intent', turnId: 't', data } as NewEntry)).toBe(false)
  })

  it('is false for gates, which are checked when they move', () => {
    const data = Object.freeze({ id: 'g', outcome: 'consumed' as const })
    expect(isFixed({ kind: 'gate-closed', turnId: 't', data })).toBe(false)
  })
})

function circular(): object {
  const data: Record<string, unknown> = { ...intent }
  data['self'] = data
  return Object.freeze(data)
}

describe('references', () => {
  it('are found in records, and in copies of their entries', async () => {
    const call = await callOf()
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const seen = await callOf({ id: 'c2', results: [media] })
    await store.append('c', epoch, [{ ...recordEntry(call) }, recordEntry(seen)])
    const own = (call.results as SpooledArtifact).digest
    expect(await digestsOf(store)).toEqual([own, 'a'.repeat(64)].sort())
    expect((await store.get('c', 'settlement', 'c1'))?.data).toEqual(call.toJSON())
  })
})

describe('blobs', () => {
  it('are held once, however many calls give the same', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const size = () => process.memoryUsage().arrayBuffers
    const bytes = new Uint8Array(MAX_BLOB_BYTES).fill(7)
    await store.append('c', epoch, [], [bytes])
    const before = size()
    for (let i = 0; i < 400; i++) await store.append('c', epoch, [], [bytes])
    expect(size() - before).toBeLessThan(4 * 1024 * 1024)
    expect(await digestsOf(store)).toHaveLength(1)
  })

  it('are refused unless they are bytes', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'me' })
    const bytes = new ArrayBuffer(4) as unknown as Uint8Array
    const storing = store.append('c', epoch, [], [bytes])
    await expect(storing).rejects.toMatchObject({ message: expect.stringContaining('blobs.0') })
    expect(await digestsOf(store)).toEqual([])
  })
})

describe('positions', () => {
  it('follow the order of the appends over all conversations', async () => {
    const store = memoryStore()
    const append = (conversation: string, epoch: number, ...ids: string[]) => {
      const entries = ids.map((id): NewEntry => {
        // Every other entry waits, the others are written out at once.
        const data = Number(id) % 2 === 0 ? { ...intent, id } : Object.freeze({ ...intent, id })
        return { kind: 'intent', turnId: 't', data }
      })
      return store.append(conversation, epoch, entries)
    }
    for (const conversation of ['a', 'b']) await store.acquire(conversation, { owner: 'me' })
    await append('a', 1, '1', '3')
    await append('b', 1, '1')
    await append('a', 1, '2')
    await store.acquire('a', { owner: 'me', force: true })
    await append('a', 2, '5')
    await append('b', 1, '2')
    await append('a', 2, '7')
    const stale = { code: 'E_STALE_RUNNER' }
    await expect(append('a', 1, '9')).rejects.toMatchObject(stale)
    const { entries } = await store.find({})
    expect(entries.map(({ conversation, entry }) => `${conversation}${entry.seq}`).join(' ')).toBe(
      'a1 a2 b1 a3 a4 b2 a5',
    )
  })
})
