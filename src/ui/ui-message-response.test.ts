import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../store/memory/memory-store.ts'
import type { Store } from '../store/store.ts'
import { type ScriptedPart, type ScriptedStep, scriptedModel } from '../testing/scripted-model.ts'
import { Tool } from '../tools/tool.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { uiMessageResponse } from './ui-message-response.ts'

const look = new Tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: z.object({ at: z.string() }),
  effect: 'read',
  handler: ({ at }, { progress }) => {
    progress({ looked: 1 })
    if (at === 'void') throw new Error('there is nothing')
    return at === 'log' ? 'a line of a long log\n'.repeat(10_000) : { at }
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

const runnerFor = (
  steps: readonly (ScriptedStep | readonly ScriptedPart[])[],
  store: Store = memoryStore(),
) => {
  const testing = { sleep: async () => {} }
  const model = scriptedModel(steps)
  return { store, runner: new TurnRunner({ model, tools: [look, send], store, testing }) }
}

/** What the transport of `useChat` reads from a response. */
async function chunksOf(response: Response): Promise<UIMessageChunk[]> {
  const transport = new DefaultChatTransport({ fetch: async () => response })
  const stream = await transport.reconnectToStream({ chatId: 'c' })
  const chunks: UIMessageChunk[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk)
  return chunks
}

/** The message that a page shows after a stream, by the reader of `ai` itself. */
async function pageAfter(
  chunks: readonly UIMessageChunk[],
  message?: UIMessage,
): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let last = message
  const read = readUIMessageStream({ stream, ...(message && { message }), terminateOnError: true })
  for await (const shown of read) last = shown
  return last
}

const brief = (message: UIMessage | undefined) =>
  message?.parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') {
      const mark = part.providerMetadata?.['bobbin']
      return [part.type, part.text, ...(mark ? [mark] : [])]
    }
    if (part.type === 'dynamic-tool') {
      const result = part.state === 'output-error' ? part.errorText : part.output
      return [part.toolName, part.state, part.input, result]
    }
    return [part.type]
  })

describe('uiMessageResponse', () => {
  it('is read by `ai`: reasoning, text, parallel calls, progress, failure and a large result', async () => {
    const calls = ['desk', 'void', 'log'].map((at) => ({ call: 'look', args: { at } }))
    const { runner } = runnerFor([
      [{ thought: 'Where?' }, { text: 'I look.' }, ...calls],
      [{ text: 'Found it.' }],
    ])
    const response = uiMessageResponse(runner.run({ conversation: 'c', message: 'Find it.' }))
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const chunks = await chunksOf(response)
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    const preliminary = chunks.filter((chunk) => 'preliminary' in chunk)
    expect(preliminary).toMatchObject(calls.map(() => ({ output: { looked: 1 } })))
    expect(chunks.filter(({ type }) => type === 'tool-input-delta')).toHaveLength(3)
    const message = await pageAfter(chunks)
    const log = { kind: 'text', bytes: 210_000, lines: 10_000, isWhole: false }
    expect(brief(message)).toMatchObject([
      ['step-start'],
      ['reasoning', 'Where?'],
      ['text', 'I look.'],
      ['look', 'output-available', { at: 'desk' }, { kind: 'json', value: { at: 'desk' } }],
      ['look', 'output-error', { at: 'void' }, expect.stringContaining('there is nothing')],
      ['look', 'output-available', { at: 'log' }, log],
      ['data-handle'],
      ['step-start'],
      ['text', 'Found it.'],
    ])
    expect(JSON.stringify(chunks).length).toBeLessThan(10_000)
  })

  it('asks for an approval, and the stream of `resume` finishes the same message', async () => {
    const { runner, store } = runnerFor([
      [{ text: 'May I?' }, { call: 'send', args: { to: 'ann' } }],
      [{ text: 'Sent.' }],
    ])
    const handle = runner.run({ conversation: 'c', message: 'Send it.' })
    const first = await chunksOf(uiMessageResponse(handle))
    const asked = await pageAfter(first)
    expect(asked).toMatchObject({ id: handle.turnId, metadata: { status: 'suspended' } })
    const [gate] = await store.openGates('c')
    expect(asked?.parts).toContainEqual(
      expect.objectContaining({ state: 'approval-requested', approval: { id: gate?.id } }),
    )
    const decision = { gate: gate?.id ?? '', approve: true, decidedBy: 'bob' }
    const resumed = runner.resume({ conversation: 'c', decisions: [decision] })
    const done = await pageAfter(await chunksOf(uiMessageResponse(resumed)), asked)
    expect(done?.id).toBe(handle.turnId)
    expect(brief(done)).toMatchObject([
      ['step-start'],
      ['text', 'May I?'],
      ['send', 'output-available', { to: 'ann' }, { head: 'sent to ann', isWhole: true }],
      ['data-gate'],
      ['step-start'],
      ['text', 'Sent.'],
    ])
  })

  it.each([
    ['a denial', { approve: false, reason: 'no' }, ['send', 'output-denied', { to: 'ann' }]],
    [
      'an edit',
      { approve: true, args: { to: 'bob' } },
      ['send', 'output-available', { to: 'bob' }],
    ],
  ])('shows %s', async (_, answer, shown) => {
    const { runner, store } = runnerFor([
      [{ call: 'send', args: { to: 'ann' } }],
      [{ text: 'Ok.' }],
    ])
    const run = runner.run({ conversation: 'c', message: 'Send it.' })
    const asked = await pageAfter(await chunksOf(uiMessageResponse(run)))
    const [gate] = await store.openGates('c')
    const decision = { gate: gate?.id ?? '', decidedBy: 'bob', ...answer }
    const resumed = runner.resume({ conversation: 'c', decisions: [decision] })
    const done = await pageAfter(await chunksOf(uiMessageResponse(resumed)), asked)
    const calls = brief(done)?.filter(([name]) => name === 'send')
    expect(calls?.at(-1)?.slice(0, 3)).toEqual(shown)
  })

  it('marks text of a broken model call as void, and `reset-step` removes it on `ai` 7', async () => {
    const steps = () => [
      { parts: [{ text: 'I beg' }], breaksOff: true } as const,
      [{ text: 'I begin.' }] as const,
    ]
    const { runner } = runnerFor(steps())
    const six = await chunksOf(uiMessageResponse(runner.run({ conversation: 'c', message: 'Go.' })))
    expect(brief(await pageAfter(six))).toEqual([
      ['step-start'],
      ['text', 'I beg', { isVoid: true }],
      ['text', 'I begin.'],
    ])
    const again = runnerFor(steps()).runner.run({ conversation: 'c', message: 'Go.' })
    const seven = await uiMessageResponse(again, { ai: 7 }).text()
    const types = Array.from(seven.matchAll(/"type":"([\w-]+)"/g), ([, type]) => type)
    const expected = 'start,start-step,text-start,text-delta,reset-step,data-warning,text-start'
    expect(types.join()).toContain(expected)
  })

  it('tells the code of a failure, and nothing of its message', async () => {
    const { runner } = runnerFor([{ error: new Error('password 123') }])
    const text = await uiMessageResponse(runner.run({ conversation: 'c', message: 'Go.' })).text()
    expect(text).toMatch(/"type":"error","errorText":"The turn failed \(\w+\)\."/)
    expect(text).not.toContain('password')
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    const busy = runner.run({ conversation: '', message: 'Go.' })
    expect(await uiMessageResponse(busy).text()).toContain('(E_INVALID_TURN_INPUT)')
  })

  it('ends the call of an abandoned approval in the next message', async () => {
    const { runner } = runnerFor([[{ call: 'send', args: { to: 'ann' } }], [{ text: 'Ok.' }]])
    await runner.run({ conversation: 'c', message: 'Send it.' })
    const next = runner.run({ conversation: 'c', message: 'Leave it.' })
    const chunks = await chunksOf(uiMessageResponse(next))
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'data-settled',
        data: expect.objectContaining({ settlement: 'abandoned' }),
      }),
    )
    await expect(pageAfter(chunks)).resolves.toMatchObject({ id: next.turnId })
  })

  it('keeps the stream open with comments, and a reader that leaves does not end the turn', async () => {
    let go = () => {}
    const until = new Promise<void>((resolve) => (go = resolve))
    const { runner } = runnerFor([{ until, parts: [{ text: 'Late.' }] }])
    const handle = runner.run({ conversation: 'c', message: 'Go.' })
    const reader = uiMessageResponse(handle, { heartbeatMs: 5 }).body?.getReader()
    const texts: string[] = []
    for (let reads = 0; reads < 20 && !texts.join('').includes(': keep'); reads++) {
      texts.push(new TextDecoder().decode((await reader?.read())?.value))
    }
    expect(texts.join('')).toContain(': keep-alive\n\n')
    await reader?.cancel()
    go()
    expect(await handle).toMatchObject({ status: 'completed', text: 'Late.' })
  })
})
