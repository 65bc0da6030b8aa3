import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { redactKeys } from './redact-keys.ts'

const PASSWORD = 'hunter2-hunter2'

async function textOf(store: ReturnType<typeof memoryStore>): Promise<string> {
  let text = ''
  for await (const entry of store.entries('c')) text += JSON.stringify(entry)
  return text
}

describe('a store that redacts arguments', () => {
  const args = { password: PASSWORD, user: 'ann' }
  const providerData = {
    api: 'openai-chat',
    endpoint: 'default',
    modelFamily: 'm',
    data: { arguments: JSON.stringify(args) },
  }
  const call = {
    type: 'call',
    id: 'c1',
    tool: 'login',
    args,
    wire: { provider: 'openai', api: 'openai-chat', type: 'function', origin: 'natural' },
    executedBy: 'provider',
    providerData,
    result: { isError: false, parts: [], providerData },
  } as const

  it('keeps no text that the arguments were read from', async () => {
    const store = memoryStore({ redact: redactKeys(/password/) })
    const { epoch } = await store.acquire('c', { owner: 'me', leaseMs: 1000 })
    const entry = { kind: 'history-item', turnId: 't', refId: 'c1', data: call } as const
    await store.append('c', epoch, [entry])
    const stored = await textOf(store)
    expect(stored).not.toContain(PASSWORD)
    expect(stored).toContain('"user":"ann"')
  })

  it.each([
    ['cut off', `{"password":"${PASSWORD}`],
    ['broken', `{"password":"${PASSWORD}",}`],
    ['with a key twice', `{"password":"${PASSWORD}","password":"${PASSWORD}"}`],
  ])('keeps nothing of arguments that are %s', async (_, text) => {
    const store = memoryStore({ redact: redactKeys(/password/) })
    const model = scriptedModel([[{ call: 'login', args: text }], [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, store, tools: [sampleTool('login', () => 'x')] })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'refused' }])
    const stored = await textOf(store)
    expect(stored).not.toContain(PASSWORD)
    expect(stored).toContain('$unparsed')
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    const again = new TurnRunner({ model: scriptedModel([[{ text: 'ok' }]]), store })
    expect((await again.run({ conversation: 'c', message: 'next' })).status).toBe('completed')
  })
})

describe('a store that redacts results', () => {
  it('keeps no media beside them', async () => {
    const parts = [
      { type: 'text', text: 'done' },
      { type: 'media', kind: 'image', source: { type: 'base64', data: 'AQID' } },
    ] as const
    const wire = { provider: 'p', api: 'a', type: 'code', origin: 'natural' } as const
    const item = {
      type: 'call',
      id: 'c1',
      tool: 'code',
      args: {},
      wire,
      executedBy: 'provider',
      result: { isError: false, parts },
    } as const
    const store = memoryStore({ redact: ({ kind }) => (kind === 'settlement' ? ['/results'] : []) })
    const model = scriptedModel([[{ item }, { text: 'so' }]])
    await new TurnRunner({ model, store }).run({ conversation: 'c', message: 'go' })
    const { entries } = await store.find({ conversation: 'c', kind: 'settlement' })
    expect(entries[0]?.entry.data).toMatchObject({
      results: '[redacted]',
      redacted: ['/results', '/media'],
    })
    expect(entries[0]?.entry.data).not.toHaveProperty('media')
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })
})
