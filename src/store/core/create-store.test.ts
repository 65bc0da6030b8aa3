import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#hash'
import type { JsonObject } from '../../core/json/json.ts'
import { Message } from '../../records/message.ts'
import type { NewEntry } from '../entry.ts'
import { memoryDriver } from '../memory/memory-driver.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Redact } from '../rows/redaction.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import type { Store } from '../store.ts'
import { createStore } from './create-store.ts'

async function opened(store: Store = memoryStore()) {
  const { epoch } = await store.acquire('c', { owner: 'test' })
  const append = (entries: readonly NewEntry[], blobs: readonly Uint8Array[] = []) =>
    store.append('c', epoch, entries, blobs)
  return { store, epoch, append }
}

const greeting = {
  id: 'm',
  role: 'user',
  content: 'hello',
  createdAt: '2026-01-02T00:00:00.000Z',
} as const

const digestAt = (place: number) => place.toString(16).padStart(64, '0')

/** A message that refers to media, as a file may say it does. */
function messageOf(id: string, digests: readonly string[]): NewEntry {
  const attachments = digests.map((sha256) => ({ $media: { sha256 } }))
  return { kind: 'message', turnId: 't', data: { id, attachments } }
}

async function digestsOf(store: Store, conversation?: string): Promise<string[]> {
  const digests: string[] = []
  for await (const digest of store.digests(conversation)) digests.push(digest)
  return digests
}

describe('history', () => {
  it('reads no more of a long conversation than its last page needs', async () => {
    const driver = memoryDriver()
    let read = 0
    const texts: StoreDriver['texts'] = async (...range) => {
      const rows = await driver.texts(...range)
      read += rows.length
      return rows
    }
    const { store, append } = await opened(createStore({ ...driver, texts }))
    for (let turn = 0; turn < 20; turn++) {
      const said = Array.from({ length: 250 }, (_, n): NewEntry[] => [
        { kind: 'message', turnId: `t${turn}`, data: { ...greeting, id: `m${turn}.${n}` } },
        { kind: 'note', turnId: `t${turn}`, data: { level: 'info', code: 'x', message: '' } },
      ])
      await append(said.flat())
    }
    const page = await store.history({ conversation: 'c', limit: 10 })
    expect(page.items.map(({ id }) => id)).toEqual(
      Array.from({ length: 10 }, (_, n) => `m19.${n + 240}`),
    )
    expect(page.before).toBe('9981.0')
    expect(read).toBe(40)
  })
})

describe('digests', () => {
  it('sorts what there is once, not for every page', { timeout: 20_000 }, async () => {
    const { store, append } = await opened()
    const digests = Array.from({ length: 100_000 }, (_, place) => digestAt(place))
    await append([messageOf('a', digests.toReversed())])
    expect(await digestsOf(store, 'c')).toEqual(digests)
  })

  it('gives what there is now, of one conversation or of all', async () => {
    const { store, epoch, append } = await opened()
    const one = digestAt(1)
    expect(await digestsOf(store)).toEqual([])
    await append([messageOf('a', [digestAt(2), one])])
    expect(await digestsOf(store, 'c')).toEqual([one, digestAt(2)])
    const { epoch: other } = await store.acquire('d', { owner: 'test' })
    await store.append('d', other, [messageOf('a', [digestAt(3)])])
    expect(await digestsOf(store, 'd')).toEqual([digestAt(3)])
    expect(await digestsOf(store)).toEqual([one, digestAt(2), digestAt(3)])
    await store.delete('d')
    expect(await digestsOf(store)).toEqual([one, digestAt(2)])
    await store.append('c', epoch, [messageOf('b', [digestAt(0)])])
    expect(await digestsOf(store)).toEqual([digestAt(0), one, digestAt(2)])
  })
})

describe('append', () => {
  it.each<[string, unknown[]]>([
    ['no entries', []],
    ['an entry of no kind', [[{ kind: 'poem', turnId: 't', data: {} }]]],
    ['blobs of a wrong type', [[], [undefined]]],
  ])('rejects %s and never throws', async (_, given) => {
    const { store, epoch } = await opened()
    const append = store.append as (...all: unknown[]) => Promise<unknown>
    const appending = append('c', epoch, ...given)
    await expect(appending).rejects.toBeInstanceOf(Error)
  })

  it('gives the seq of the first entry and the time, also for an empty append', async () => {
    const { append } = await opened(memoryStore({ clock: { now: () => 5 } }))
    expect(await append([messageOf('a', []), messageOf('b', [])])).toEqual({ seq: 1, time: 5 })
    expect(await append([])).toEqual({ seq: 3, time: 5 })
    expect(await append([messageOf('c', [])])).toEqual({ seq: 3, time: 5 })
  })

  it('keeps the bytes of a blob as they were when it was given', async () => {
    const { store, append } = await opened()
    const bytes = Buffer.from('as it was')
    const digest = sha256Hex(bytes)
    await append([], [bytes])
    bytes.fill(0)
    const read = (await store.blob(digest)) as Uint8Array
    expect(sha256Hex(read)).toBe(digest)
    read.fill(0)
    expect(sha256Hex((await store.blob(digest)) as Uint8Array)).toBe(digest)
  })

  it('takes entries that refer to more than a call can be given arguments', async () => {
    const { store, append } = await opened()
    const digests = Array.from({ length: 150_000 }, (_, place) => digestAt(place))
    await append([messageOf('a', [digestAt(0)]), messageOf('b', digests)])
    expect(await store.count({ kind: 'message' })).toBe(2)
  })

  it.each([2, 20, 40])('takes an id once for each kind, among %i entries', async (count) => {
    const { append } = await opened()
    const of = (kind: 'message' | 'thought', id: string): NewEntry => ({
      kind,
      turnId: 't',
      data: { id },
    })
    const ids = Array.from({ length: count / 2 }, (_, place) => `${place}`)
    const entries = ids.flatMap((id) => [of('message', id), of('thought', id)])
    const duplicate = { code: 'E_DUPLICATE_ENTRY' }
    const twin = [...entries, of('thought', '0')]
    await expect(append(twin)).rejects.toMatchObject(duplicate)
    await append(entries)
    await expect(append([of('thought', '0')])).rejects.toMatchObject(duplicate)
  })

  it('counts a blob as referred to that no entry names', async () => {
    const { store, append } = await opened()
    const blobs = ['a', 'b'].map((text) => new TextEncoder().encode(text))
    await append([messageOf('m', [sha256Hex(blobs[0] as Uint8Array)])], blobs)
    const digests: string[] = []
    for await (const digest of store.digests('c')) digests.push(digest)
    expect(digests).toEqual(blobs.map(sha256Hex).sort())
  })

  it('stores what is redacted in one entry and referred to in another', async () => {
    const redact: Redact = ({ data }) => (data['id'] === 'hidden' ? ['/attachments'] : [])
    const { store, append } = await opened(memoryStore({ redact }))
    const [both, hidden] = ['both', 'hidden'].map((text) => new TextEncoder().encode(text))
    const blobs = [both as Uint8Array, hidden as Uint8Array]
    const [digest, gone] = blobs.map(sha256Hex) as [string, string]
    await append([messageOf('hidden', [digest, gone]), messageOf('shown', [digest])], blobs)
    expect(await store.blob(digest)).toEqual(both)
    expect(await store.blob(gone)).toBeUndefined()
  })

  it('redacts records that are not written out yet like plain data', async () => {
    const [wrapped, plain] = [new Message(greeting), new Message(greeting).toJSON()]
    const stored: unknown[] = []
    for (const data of [wrapped as unknown as JsonObject, plain]) {
      const { store, append } = await opened(memoryStore({ redact: () => ['/identity'] }))
      await append([{ kind: 'message', turnId: 't', data }])
      stored.push((await store.get('c', 'message', 'm'))?.data)
    }
    expect(stored[0]).toEqual(stored[1])
  })

  it('looks for redacted results in time that is in proportion to what is appended', async () => {
    const { store, append } = await opened(memoryStore({ redact: () => [] }))
    const texts = Array.from({ length: 20_000 }, (_, place) => new TextEncoder().encode(`${place}`))
    const entries = texts.map((text, place) => messageOf(`m${place}`, [sha256Hex(text)]))
    const before = process.cpuUsage()
    await append(entries, texts)
    const { user } = process.cpuUsage(before)
    expect(user / 1000).toBeLessThan(4_000)
    expect((await store.conversation('c'))?.length).toBe(20_000)
  })
})

describe('delete', () => {
  it('deletes an empty nested conversation too, unless it is held', async () => {
    const store = memoryStore()
    for (const id of ['a', 'a/1', 'a/2', 'b/1']) {
      const { epoch } = await store.acquire(id, { owner: 'test' })
      if (id !== 'a/2') await store.release(id, epoch)
    }
    await store.delete('a')
    expect((await store.conversations()).map(({ id }) => id)).toEqual(['a/2', 'b/1'])
  })

  it('keeps the blobs that others refer to, however often they were stored', async () => {
    const store = memoryStore()
    const blob = new TextEncoder().encode('shared')
    const own = new TextEncoder().encode('own')
    for (const conversation of ['one', 'two']) {
      const { epoch } = await store.acquire(conversation, { owner: 'test' })
      for (const id of ['a', 'b']) {
        const blobs = conversation === 'one' ? [blob, own] : [blob]
        await store.append(conversation, epoch, [messageOf(id, blobs.map(sha256Hex))], blobs)
      }
    }
    const digests: string[] = []
    for await (const digest of store.digests()) digests.push(digest)
    expect(digests.sort()).toEqual([sha256Hex(blob), sha256Hex(own)].sort())
    await store.delete('one')
    expect(await store.blob(sha256Hex(blob))).toEqual(blob)
    expect(await store.blob(sha256Hex(own))).toBeUndefined()
    await store.delete('two')
    expect(await store.blob(sha256Hex(blob))).toBeUndefined()
  })
})

describe('verify', () => {
  /** A store in which others append while the log is read, so many times. */
  async function busy(times: number) {
    const driver = memoryDriver()
    let left = times
    const rows: StoreDriver['rows'] = async (...range) => {
      if (left-- > 0) {
        const id = `n${left}`
        await store.append('c', epoch, [messageOf(id, []), { kind: 'turn-end', turnId: 't', data }])
      }
      return driver.rows(...range)
    }
    const data = { status: 'completed' } as const
    const { store, epoch, append } = await opened(createStore({ ...driver, rows }))
    await append([messageOf('first', [])])
    return store
  }

  it('finds nothing wrong with a conversation that grows meanwhile', async () => {
    const store = await busy(3)
    const { ok, faults, entries } = await store.verify({ conversation: 'c' })
    expect({ ok, faults, entries }).toEqual({ ok: true, faults: [], entries: 7 })
  })

  it('comes to an end where it never stops growing', async () => {
    const store = await busy(100)
    expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: false, entries: 11 })
  })
})
