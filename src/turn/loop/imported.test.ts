import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { checksum } from '../../core/checksum.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import { wire } from '../../wire/index.ts'
import { providers } from '../../wire/providers.ts'
import { TurnRunner } from '../turn-runner.ts'

const go = { conversation: 'k', message: 'go' }

async function exported(store: Store): Promise<string[]> {
  const lines: string[] = []
  for await (const line of store.export('k')) lines.push(line)
  return lines
}

/** What the model is sent when an imported conversation goes on. */
async function shownAfterImport(lines: string[], tools: Tool[]) {
  const store = memoryStore()
  await store.import(lines)
  const model = scriptedModel([[{ text: 'again' }]])
  const outcome = await new TurnRunner({ model, tools, store }).run({ ...go, message: 'go on' })
  expect(outcome.status).toBe('completed')
  return model.requests[0] ?? { items: [], tools: [] }
}

describe('a conversation that was imported', () => {
  it('shows the model its calls and results, and lets it read what is shown as a handle', async () => {
    const store = memoryStore()
    const tools = [
      sampleTool('look', () => 'the small result'),
      sampleTool('report', () => 'a long report', { inline: false }),
    ]
    const steps = [
      [{ text: 'One.' }, { call: 'look', id: 'c1' }, { call: 'report', id: 'c2' }],
      [{ text: 'so' }],
    ]
    await new TurnRunner({ model: scriptedModel(steps), tools, store }).run(go)
    const request = await shownAfterImport(await exported(store), tools)
    expect(request.items.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'call',
      'call',
      'message',
      'message',
    ])
    expect(JSON.stringify(request.items)).toContain('the small result')
    expect(request.tools?.map(({ name }) => name)).toContain('artifact_head')
    for (const { api } of providers) {
      expect(wire(api).validate(wire(api).encode(request.items))).toEqual([])
    }
  })

  it('shows what a person made of a call in its place', async () => {
    const store = memoryStore()
    const pay = sampleTool('pay', ({ q }) => `paid ${q}`, { effect: 'write', approval: true })
    const approve = async () => ({ approve: true, decidedBy: 'ann', args: { q: 'less' } })
    const model = scriptedModel([[{ call: 'pay', id: 'p', args: { q: 'more' } }], [{ text: 'so' }]])
    await new TurnRunner({ model, tools: [pay], store, approve }).run(go)
    const { items } = await shownAfterImport(await exported(store), [pay])
    const calls = items.filter(({ type }) => type === 'call')
    expect(calls).toMatchObject([{ id: 'p', args: { q: 'more' } }])
    expect(JSON.stringify(calls)).toContain('paid less')
    expect(JSON.stringify(calls)).toContain('A person changed the arguments')
  })

  it('keeps what a message says that has more than one part', async () => {
    const store = memoryStore()
    const parts = ['Hello, ', 'world.'].map((text) => ({ type: 'text', text }) as const)
    const item = { type: 'message', role: 'assistant', parts } as const
    await new TurnRunner({ model: scriptedModel([[{ item }]]), store }).run(go)
    const { items } = await shownAfterImport(await exported(store), [])
    expect(JSON.stringify(items)).toContain('Hello, world.')
  })

  const intent = (more: JsonObject): JsonObject => ({
    id: 'x',
    tool: 'pay',
    args: {},
    checksum: checksum('pay', {}),
    effect: 'idempotent',
    idempotencyKey: 'other/key',
    createdAt: '2026-01-01T00:00:00.000Z',
    ...more,
  })

  const fileWith = (...entries: { kind: string; data: JsonObject }[]) =>
    [
      { bobbin: 'conversation', v: 1, conversation: 'k', exportedAt: '' },
      ...entries.map((entry) => ({ entry: { v: 1, turnId: 't', time: 1, ...entry } })),
      { end: { entries: entries.length, artifacts: 0, leftOut: 0 } },
    ].map((line) => JSON.stringify(line))

  it.each([{}, { editOf: 'y' }])(
    'has nothing run that the file says had begun: %o',
    async (more) => {
      const store = memoryStore()
      await store.import(fileWith({ kind: 'intent', data: intent(more) }))
      let ran = 0
      const asked: string[] = []
      const reconcile = async (key: string) => {
        asked.push(key)
        return { happened: 'no' } as const
      }
      const pay = sampleTool('pay', () => `${++ran}`, { effect: 'idempotent', reconcile })
      const model = scriptedModel([[{ text: 'again' }]])
      await new TurnRunner({ model, tools: [pay], store }).recover({ conversation: 'k' })
      expect([ran, asked]).toEqual([0, []])
      expect(await store.get('k', 'settlement', 'x')).toMatchObject({
        data: { settlement: 'in-doubt' },
      })
    },
  )

  it('is refused when an unfinished call is not what its checksum says', async () => {
    const store = memoryStore()
    const file = fileWith({ kind: 'intent', data: intent({ checksum: 'f'.repeat(64) }) })
    await expect(store.import(file)).rejects.toMatchObject({ code: 'E_INVALID_IMPORT' })
    expect(await store.conversations()).toEqual([])
  })
})
