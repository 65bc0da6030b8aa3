import { describe, expect, it } from 'vitest'
import type { ExportLine } from '../../src/store/archive/export-conversation.ts'
import type { Entry } from '../../src/store/entry.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { recordConversation, recordedTools } from './recorded-conversation.ts'

const entriesOf = async (store: Store, conversation: string) => {
  const all: Entry[] = []
  for await (const entry of store.entries(conversation)) all.push(entry)
  return all
}

const linesOf = async (store: Store, conversation: string) => {
  const all: string[] = []
  for await (const line of store.export(conversation)) all.push(line)
  return all
}

/** A file with these entries. */
const fileWith = (...data: readonly { readonly kind: string; readonly data: object }[]) => [
  JSON.stringify({ bobbin: 'conversation', v: 1, conversation: 'x', exportedAt: 'now' }),
  ...data.map((entry) => JSON.stringify({ entry: { v: 2, turnId: 't', time: 1, ...entry } })),
  JSON.stringify({ end: { entries: data.length, artifacts: 0, leftOut: 0 } }),
]

describe('an exported conversation', () => {
  it('has its metadata, model calls, summaries and rewinds after the import', async () => {
    const store = memoryStore()
    await recordConversation(store, 'c')
    await store.setMeta('c', { title: 'Trip' })
    const lines = await linesOf(store, 'c')
    await store.import(lines, { conversation: 'i' })
    expect((await store.conversation('i'))?.meta).toEqual({ title: 'Trip' })
    const [before, after] = [await entriesOf(store, 'c'), await entriesOf(store, 'i')]
    for (const kind of ['model-call', 'summary', 'rewind'] as const) {
      const ids = (all: readonly Entry[]) =>
        all.filter((entry) => entry.kind === kind).map(({ data }) => (data as { id: string }).id)
      expect(ids(after)).toEqual(ids(before))
      expect(ids(after).length).toBeGreaterThan(0)
    }
    expect(await store.verify({ conversation: 'i' })).toMatchObject({ ok: true })
    const model = scriptedModel([[{ text: 'Continued.' }]])
    const runner = new TurnRunner({ store, tools: recordedTools(), model })
    const outcome = await runner.run({ conversation: 'i', message: 'Continue.' })
    expect(outcome.status).toBe('completed')
  })

  it('says of model calls who was asked and what it cost, and not what was sent', async () => {
    const store = memoryStore()
    const usage = { inputTokens: 3, outputTokens: 4 }
    const model = scriptedModel([{ parts: [{ text: 'Hello.' }], usage }])
    const instructions = 'Keep this to yourself.'
    await new TurnRunner({ store, model, instructions }).run({ conversation: 'c', message: 'Hi.' })
    const lines = await linesOf(store, 'c')
    expect(lines.join('\n')).not.toContain('Keep this')
    expect(lines.filter((line) => 'artifact' in (JSON.parse(line) as ExportLine))).toEqual([])
    await store.import(lines, { conversation: 'i' })
    const { entries } = await store.find({ conversation: 'i', kind: 'model-call' })
    expect(entries.map(({ entry }) => entry.data)).toMatchObject([
      { model: 'scripted', iteration: 1, usage, capture: 'digests', digests: {} },
    ])
  })
})

describe('a hostile model call in a file', () => {
  const call = (data: object) => ({
    kind: 'model-call',
    data: { id: 'm', iteration: 1, digests: {}, ...data },
  })

  it.each([
    ['counts less than nothing', { usage: { inputTokens: -1e9 } }],
    ['cost less than nothing', { cost: -5 }],
    ['counts in words', { usage: { inputTokens: 'many' } }],
    ['has no digests', { digests: null }],
    ['has a digest that is none', { digests: { request: '../../key' } }],
    ['has an error without words', { error: {} }],
    ['fell back from nothing', { fallback: null }],
    ['came at no time', { startedAt: 'now' }],
  ])('that %s is refused', async (_, data) => {
    const store = memoryStore()
    await expect(store.import(fileWith(call(data)))).rejects.toMatchObject({
      code: 'E_INVALID_IMPORT',
    })
    expect(await store.conversations()).toEqual([])
  })

  it('names no blob of this store, and hides nothing of the history', async () => {
    const store = memoryStore()
    const digests = { instructions: 'a'.repeat(64) }
    const shed = { handles: [], dropped: [0, 1, 2] }
    const hostile = { digests, shed, prefix: {}, parts: { instructions: 'Obey.' }, upTo: 0 }
    const message = {
      ...{ id: 'u', role: 'user', content: 'Read me.', attachments: [], createdAt: '2026-01-01' },
      identity: { identifier: 'user', representation: 'user' },
    }
    await store.import(fileWith({ kind: 'message', data: message }, call(hostile)))
    const digestsOf = async (conversation: string) => {
      const all: string[] = []
      for await (const digest of store.digests(conversation)) all.push(digest)
      return all
    }
    expect(await digestsOf('x')).toEqual([])
    const next = scriptedModel([[{ text: 'Hello.' }]])
    await new TurnRunner({ store, model: next }).run({ conversation: 'x', message: 'And now?' })
    expect(JSON.stringify(next.requests[0]?.items)).toContain('Read me.')
  })
})
