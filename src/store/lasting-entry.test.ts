import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { JsonObject } from '../core/json.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import { Message, type RawMessage } from '../records/message.ts'
import { type RawToolCall, ToolCall } from '../records/tool-call.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { SmallText } from '../spool/small-text.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Entry, NewEntry } from './entry.ts'
import { LastingEntry, plainEntry } from './lasting-entry.ts'
import { memoryStore } from './memory-store.ts'
import type { StoredBlob } from './store.ts'

const KEY = new Uint8Array(32).fill(7)
const args = normalizeArguments({ z: [1, { b: 'ü', a: null }], a: true })
const RESULT = new TextEncoder().encode('one\ntwo')
const wire = Object.freeze({ provider: 'p', api: 'a', type: 't', origin: 'natural' as const })

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

/** Two turns: the log as it is read back, and its seals. */
async function logOf(entries: readonly NewEntry[], blob: StoredBlob = RESULT) {
  const store = memoryStore({ clock: { now: () => 1_000 } })
  const { epoch } = await store.acquire('c', { owner: 'test', key: KEY })
  const end: NewEntry = { kind: 'turn-end', turnId: 't', data: { status: 'completed' } }
  await store.append('c', epoch, [...entries, end], [blob], { readBack: false })
  await store.append('c', epoch, [{ ...end, turnId: 't2' }])
  const log: Entry[] = []
  for await (const entry of store.entries('c')) log.push(entry)
  const report = await store.verify({ conversation: 'c' })
  expect(report.faults).toEqual([])
  const digests: string[] = []
  for await (const digest of store.digests('c')) digests.push(digest)
  return { log, digests, store }
}

async function sampleEntries(): Promise<NewEntry[]> {
  const item = { type: 'call', id: 'c1', tool: 'read', args, wire, executedBy: 'runner' } as const
  const intent = { id: 'c1', tool: 'read', args, checksum: 'x', idempotencyKey: 'k', wire }
  return [
    LastingEntry.of('history-item', 't', Object.freeze(item)),
    LastingEntry.of('intent', 't', Object.freeze({ ...intent, createdAt: '2026-01-01' })),
    LastingEntry.settlement('t', await callOf()),
    LastingEntry.of('turn-start', 't', Object.freeze({})),
    LastingEntry.message('t', messageOf()),
    LastingEntry.message('t', messageOf({ id: 'm2', content: 'x'.repeat(64 * 1024) })),
    LastingEntry.of('turn-end', 't', Object.freeze({ status: 'completed' as const })),
  ]
}

describe('LastingEntry', () => {
  it('is stored as the same bytes, under the same seals, as plain JSON is', async () => {
    const lasting = await sampleEntries()
    expect(lasting.every((entry) => entry instanceof LastingEntry)).toBe(true)
    const plain = lasting.map(plainEntry)
    expect(plain.some((entry) => entry instanceof LastingEntry)).toBe(false)
    const [one, other] = [await logOf(lasting), await logOf(plain)]
    expect(one.log).toEqual(other.log)
    expect(one.log[6]?.seal).toMatch(/^[0-9a-f]{64}$/)
    expect(one.log[7]?.seal).toMatch(/^[0-9a-f]{64}$/)
    expect(one.digests).toEqual(other.digests)
    expect(one.digests).toHaveLength(1)
  })

  it('is found by what it is about before it was ever read', async () => {
    const { store } = await logOf(await sampleEntries())
    expect(await store.count({ tool: 'read' })).toBe(2)
    expect(await store.count({ settlement: 'ok', checksum: (await callOf()).checksum })).toBe(1)
    expect((await store.get('c', 'settlement', 'c1'))?.data['id']).toBe('c1')
    expect((await store.get('c', 'message', 'm1'))?.data['content']).toBe('ü "x"')
    expect((await store.get('c', 'turn-start', 't'))?.turnId).toBe('t')
  })

  it('begins a turn once', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const start = LastingEntry.of('turn-start', 't', Object.freeze({}))
    await store.append('c', epoch, [start])
    for (const again of [start, plainEntry(start)]) {
      const duplicate = { code: 'E_DUPLICATE_ENTRY' }
      await expect(store.append('c', epoch, [again])).rejects.toMatchObject(duplicate)
    }
  })

  it.each<[string, Partial<RawMessage>]>([
    ['a long text', { content: 'x'.repeat(64 * 1024 + 1) }],
    ['attachments', { attachments: [media] }],
    ['a provider’s state', { providerData: { api: 'a', data: 1 } }],
  ])('is plain JSON at once for a message with %s', async (_, over) => {
    const entry = LastingEntry.message('t', messageOf(over))
    expect(entry).not.toBeInstanceOf(LastingEntry)
    expect(JSON.parse(JSON.stringify(entry.data))).toEqual(entry.data)
  })

  it('is given back as plain JSON to whoever asks for it', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const call = await callOf()
    const [stored] = await store.append('c', epoch, [LastingEntry.settlement('t', call)])
    expect(stored?.data).toEqual(call.toJSON())
    expect(await store.get('c', 'settlement', 'c1')).toEqual(stored)
  })

  it('is sealed when somebody looks, however many turns went by', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    for (let turn = 0; turn < 20_000; turn++) {
      const end: NewEntry = { kind: 'turn-end', turnId: `t${turn}`, data: { status: 'completed' } }
      await store.append('c', epoch, [end], [], { readBack: false })
    }
    expect((await store.conversation('c'))?.seal).toMatch(/^[0-9a-f]{64}$/)
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })

  it('is redacted like any other', async () => {
    const store = memoryStore({ redact: ({ kind }) => (kind === 'intent' ? ['/args/a'] : []) })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, await sampleEntries())
    const intent = await store.get('c', 'intent', 'c1')
    expect(intent?.data.args).toEqual({ a: '[redacted]', z: args['z'] })
    expect(intent?.redacted).toEqual(['/args/a'])
  })

  it.each([
    ['text of any length', { results: new Tokenizable('x') }],
    ['changed arguments', { effectiveArgs: { a: 1 } }],
    ['the text received', { rawArgs: '{' }],
    ['a provider’s state', { providerData: { api: 'a', data: 1 } }],
  ])('is plain JSON at once for a call with %s', async (_, over) => {
    const entry = LastingEntry.settlement('t', await callOf(over))
    expect(entry).not.toBeInstanceOf(LastingEntry)
    expect(JSON.parse(JSON.stringify(entry.data))).toEqual(entry.data)
  })

  it('refuses an id that is there, and one that comes twice', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const entry = LastingEntry.settlement('t', await callOf())
    const duplicate = { code: 'E_DUPLICATE_ENTRY' }
    await expect(store.append('c', epoch, [entry, entry])).rejects.toMatchObject(duplicate)
    await store.append('c', epoch, [entry])
    await expect(store.append('c', epoch, [entry])).rejects.toMatchObject(duplicate)
  })

  it('is not asked for its id by each of the others', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    let asked = 0
    // A long id is hashed each time; a provider may give many of megabytes.
    const entries = Array.from({ length: 24 }, (_, at) => {
      const fixed = { tool: 'read', args, checksum: 'x', idempotencyKey: 'k', createdAt: '' }
      const get = () => {
        asked++
        return `c${at}`
      }
      const intent = Object.freeze(Object.defineProperty({ ...fixed, id: '' }, 'id', { get }))
      return LastingEntry.of('intent', 't', intent)
    })
    await store.append('c', epoch, entries, [], { readBack: false })
    expect(asked).toBeLessThanOrEqual(2 * 24)
    expect((await store.get('c', 'intent', 'c23'))?.seq).toBe(24)
  })

  it('refers to its artifact before it was ever read', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const call = await callOf()
    const entry = LastingEntry.settlement('t', call)
    await store.append('c', epoch, [entry], [], { readBack: false })
    const digests: string[] = []
    for await (const digest of store.digests('c')) digests.push(digest)
    expect(digests).toEqual([(call.results as SpooledArtifact).digest])
  })

  it('refers to its artifact also where somebody copied it', async () => {
    const call = await callOf()
    const copies = [{ ...LastingEntry.settlement('t', call) }] as NewEntry[]
    const seen = await callOf({ id: 'c2', results: [media] })
    copies.push({ kind: 'settlement', turnId: 't', data: seen as unknown as JsonObject })
    const store = memoryStore()
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, copies)
    const digests: string[] = []
    for await (const digest of store.digests('c')) digests.push(digest)
    expect(digests).toEqual([(call.results as SpooledArtifact).digest, 'a'.repeat(64)].sort())
    expect((await store.get('c', 'settlement', 'c1'))?.data).toEqual(call.toJSON())
  })

  it('goes with a text as with its bytes', async () => {
    const text = SmallText.of('one\ntwo', 100) as SmallText
    const { store } = await logOf(await sampleEntries(), text)
    expect(await store.blob(text.digest)).toEqual(RESULT)
  })
})
