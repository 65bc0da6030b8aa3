import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#hash'
import { Message } from '../records/message.ts'
import { Thought } from '../records/thought.ts'
import { ToolCall } from '../records/tool-call.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { Gate } from './gate.ts'
import { memoryStore } from './memory/memory-store.ts'
import { decodeEntry } from './rows/entry-text.ts'
import { gateAt } from './rows/gate-row.ts'
import { sealOf } from './rows/seal.ts'
import type { EntryText } from './rows/store-rows.ts'

// What a released version has written stays as it is: a new version adds a folder.
const folder = new URL('./fixtures/', import.meta.url)
const versions = readdirSync(folder)
const KEY = new Uint8Array(32).fill(1)
const CONVERSATION = 'incident-42'

const linesOf = (version: string, file: string) =>
  readFileSync(new URL(`${version}/${file}.jsonl`, folder), 'utf8')
    .trimEnd()
    .split('\n')
const rowsOf = (version: string) =>
  linesOf(version, 'entries').map((line) => JSON.parse(line) as EntryText)

describe('what earlier versions have stored', () => {
  it('is there for every version', () => {
    expect(versions).toEqual(['v1', 'v2'])
  })

  it.each(versions)('%s: every entry can be read and its record restored', (version) => {
    const spool = memorySpool()
    const kinds = rowsOf(version).map((row) => {
      const entry = decodeEntry(CONVERSATION, row)
      if (entry.kind === 'message') expect(Message.fromJSON(entry.data).id).toBe(entry.data['id'])
      if (entry.kind === 'thought') expect(Thought.fromJSON(entry.data).id).toBe(entry.data['id'])
      if (entry.kind === 'settlement') {
        expect(ToolCall.fromJSON(entry.data, { spool }).checksum).toBe(entry.data['checksum'])
      }
      return entry.kind
    })
    expect(new Set(kinds).size).toBe(version === 'v1' ? 10 : 11)
  })

  it.each(versions)('%s: the seals are made the same way', (version) => {
    let previous = ''
    let digests: string[] = []
    const seals: string[] = []
    for (const { digest, seal } of rowsOf(version)) {
      digests.push(digest)
      if (seal === null) continue
      const made = sealOf({ key: KEY, conversation: CONVERSATION, previous, digests })
      expect(made).toBe(seal)
      seals.push(seal)
      previous = seal
      digests = []
    }
    expect(seals).toHaveLength(2)
  })

  it.each(versions)('%s: gates can be read', (version) => {
    const [gate] = linesOf(version, 'gates').map((line) => JSON.parse(line) as Gate)
    expect(gate && gateAt(gate, Number.MAX_SAFE_INTEGER).state).toBe('consumed')
  })

  it.each(versions)('%s: an export can be imported', async (version) => {
    const store = memoryStore()
    const report = await store.import(linesOf(version, 'export'), { trust: 'developer' })
    expect(report).toEqual({ conversation: CONVERSATION, entries: 13, artifacts: 1 })
    expect((await store.verify({ conversation: CONVERSATION })).faults).toEqual([])
  })
})

describe('decodeEntry', () => {
  it('refuses an entry of a version that is not known', () => {
    const { body, ...row } = rowsOf('v1')[0] as EntryText
    const later = body.replace('"v":1', '"v":9')
    const decode = () => decodeEntry('c', { ...row, digest: sha256Hex(later), body: later })
    expect(decode).toThrow('has version 9')
    expect(() => decodeEntry('c', { ...row, body: later })).toThrow('its digest does not match')
  })
})
