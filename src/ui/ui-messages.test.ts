import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../store/memory/memory-store.ts'
import type { Store } from '../store/store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { Tool } from '../tools/tool.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { uiMessageResponse } from './ui-message-response.ts'
import { uiMessages } from './ui-messages.ts'
import { uiReconnectResponse } from './ui-reconnect-response.ts'

const look = new Tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: z.object({ at: z.string() }),
  effect: 'read',
  handler: ({ at }, { progress }) => {
    progress({ looked: 1 })
    if (at === 'void') throw new Error('there is nothing')
    return 'a line\n'.repeat(at === 'log' ? 10_000 : 1)
  },
})
const send = new Tool({
  name: 'send',
  description: 'Sends.',
  inputSchema: z.object({ to: z.string() }),
  effect: 'write',
  approval: true,
  handler: ({ to }) => `sent to ${to}`,
})

/** What a page with `ai` shows after a response that continues a message. */
async function pageAfter(response: Response, message?: UIMessage): Promise<UIMessage | undefined> {
  const transport = new DefaultChatTransport({ fetch: async () => response })
  const stream = await transport.reconnectToStream({ chatId: 'c' })
  if (stream === null) return undefined
  let last = message
  for await (const shown of readUIMessageStream({ stream, ...(message && { message }) })) {
    last = shown
  }
  return last
}

/** As it is after a request: without what is undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

async function approve(runner: TurnRunner, store: Store, args?: { readonly to: string }) {
  const [gate] = await store.openGates('c')
  const decision = { gate: gate?.id ?? '', approve: true, decidedBy: 'bob', ...(args && { args }) }
  return { handle: runner.resume({ conversation: 'c', decisions: [decision] }) }
}

describe('uiMessages', () => {
  it('gives a page that loads what a page has that was there all the time', async () => {
    const calls = ['desk', 'void', 'log'].map((at) => ({ call: 'look', args: { at } }))
    const model = scriptedModel([
      [{ thought: 'Where?' }, { text: 'I look.' }, ...calls],
      [{ text: 'May I?' }, { call: 'send', args: { to: 'ann' } }],
      [{ text: 'Sent.' }],
      [{ call: 'send', args: { to: 'eve' } }],
      [{ text: 'Fine.' }],
    ])
    const store = memoryStore()
    const runner = new TurnRunner({ model, tools: [look, send], store })
    const shown = async () => plain(await uiMessages(store, { conversation: 'c' }))
    const question = (text: string) =>
      expect.objectContaining({ role: 'user', parts: [{ type: 'text', text }] })
    expect(await shown()).toEqual([])
    const run = runner.run({ conversation: 'c', message: 'Find it.' })
    const asked = await pageAfter(uiMessageResponse(run))
    expect(await shown()).toEqual([question('Find it.'), plain(asked)])
    const { handle } = await approve(runner, store, { to: 'bob' })
    const first = await pageAfter(uiMessageResponse(handle), asked)
    expect(await shown()).toEqual([question('Find it.'), plain(first)])
    await runner.run({ conversation: 'c', message: 'And eve.' })
    const last = runner.run({ conversation: 'c', message: 'Leave it.' })
    await last
    const messages = await uiMessages(store, { conversation: 'c' })
    expect(messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
    ])
    expect(messages[3]?.parts).toContainEqual(expect.objectContaining({ state: 'output-error' }))
    expect(messages[5]).toMatchObject({ id: last.turnId, metadata: { status: 'completed' } })
  })
})

describe('uiReconnectResponse', () => {
  it('gives the whole message of the turn that runs, to a page that comes late', async () => {
    let go = () => {}
    const until = new Promise<void>((resolve) => (go = resolve))
    const model = scriptedModel([
      [{ call: 'send', args: { to: 'ann' } }],
      { until, parts: [{ text: 'Sent.' }] },
    ])
    const store = memoryStore()
    const runner = new TurnRunner({ model, tools: [look, send], store })
    const reconnect = () => uiReconnectResponse(store, { conversation: 'c', heartbeatMs: 1000 })
    expect((await reconnect()).status).toBe(204)
    const run = runner.run({ conversation: 'c', message: 'Send it.' })
    await run
    expect((await reconnect()).status).toBe(204)
    const { handle } = await approve(runner, store)
    for await (const { type } of handle) if (type === 'toolCall') break
    const response = await reconnect()
    expect(response.status).toBe(200)
    go()
    const late = await pageAfter(response)
    expect(late?.id).toBe(run.turnId)
    expect(plain(late)).toEqual(plain((await uiMessages(store, { conversation: 'c' })).at(-1)))
    await handle
    expect((await reconnect()).status).toBe(204)
  })
})
