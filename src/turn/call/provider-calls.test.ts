import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { openaiResponses } from '../../providers/openai/index.ts'
import type { CallItem, OpenCallItem } from '../../records/history-item.ts'
import type { Gate } from '../../store/gate.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import {
  type LoopbackProvider,
  loopbackProvider,
} from '../../testing/loopback/loopback-provider.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import { wire } from '../../wire/index.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import { TurnRunner } from '../turn-runner.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

const at = (callId: string) =>
  ({ provider: 'p', api: 'scripted', type: 'search', origin: 'natural', callId }) as const

const searched = (callId: string, text: string, more: Partial<CallItem> = {}): CallItem => ({
  type: 'call',
  id: callId,
  tool: 'web_search',
  args: { q: 'x' },
  wire: at(callId),
  executedBy: 'provider',
  result: { isError: false, parts: [{ type: 'text', text }] },
  ...more,
})

const openCall = (callId: string, gate?: OpenCallItem['gate']): OpenCallItem => ({
  type: 'openCall',
  id: callId,
  tool: 'web_search',
  args: { q: 'x' },
  wire: at(callId),
  executedBy: 'provider',
  ...(gate && { gate }),
})

describe('a call that the provider ran', () => {
  it('is announced, settled and told like any other, and keeps its own form for its wire', async () => {
    const item = searched('ws_1', 'found it')
    const model = scriptedModel([[{ item }, { text: 'so' }], [{ text: 'again' }]])
    const store = memoryStore()
    const runner = new TurnRunner({ model, store })
    const recorder = eventRecorder(runner)
    const { toolCalls, conversation } = await runner.run({ message: 'go' })
    expect((await store.verify({ conversation })).faults).toEqual([])
    expect(toolCalls).toMatchObject([
      { id: 'ws_1', tool: 'web_search', executedBy: 'provider', settlement: 'ok' },
    ])
    expect(recorder.of('toolCall').map(({ isComplete }) => isComplete)).toEqual([false, true])
    expect(recorder.of('toolExecutionStart')).toEqual([])
    await runner.run({ message: 'again', conversation })
    const sent = model.requests[1]?.items.find(({ type }) => type === 'call')
    expect((sent as CallItem).result).toEqual(item.result)
  })

  it('keeps ids unique when the provider counts from the start in every response', async () => {
    const store = memoryStore()
    const steps = [
      [{ item: searched('ws_1', 'one') }, { call: 'look', id: 'ws_1' }],
      [{ item: searched('ws_1', 'two') }, { text: 'x' }],
    ]
    const runner = new TurnRunner({
      model: scriptedModel(steps),
      store,
      tools: [sampleTool('look', () => 'x')],
    })
    const outcome = await runner.run({ message: 'go' })
    expect(outcome.status).toBe('completed')
    expect(outcome.toolCalls.map(({ id, tool }) => `${tool} ${id}`)).toEqual([
      'web_search ws_1',
      'look ws_1~2',
      'web_search ws_1~3',
    ])
  })

  it('settles under the id of the open call that an earlier response left', async () => {
    const late = searched('ws_1', 'found late', { tool: '', args: {}, resultOnly: true })
    const model = scriptedModel([
      { parts: [{ item: openCall('ws_1') }], finish: 'pause' },
      [{ item: late }, { text: 'so' }],
    ])
    const { toolCalls, status } = await new TurnRunner({ model }).run({ message: 'go' })
    expect(status).toBe('completed')
    expect(toolCalls).toMatchObject([{ id: 'ws_1', tool: 'web_search', args: { q: 'x' } }])
    model.done()
  })
})

describe('a result that comes after the response that left its call open', () => {
  it('is never sent without that call, however little room there is', async () => {
    const late = searched('ws_1', 'found late', { tool: '', args: {}, resultOnly: true })
    const long = { text: 'word '.repeat(400) }
    const more = (n: number) => [long, { call: 'look', args: { n } }]
    const model = scriptedModel([
      { parts: [long, { item: openCall('ws_1') }], finish: 'pause' },
      [{ item: late }, ...more(1)],
      more(2),
      more(3),
      [{ text: 'so' }],
    ])
    const tools = [sampleTool('look', () => 'x')]
    const runner = new TurnRunner({ model, tools, budget: { maxTokens: 1_700 } })
    const recorder = eventRecorder(runner)
    expect(await runner.run({ message: 'go' })).toMatchObject({ status: 'completed' })
    expect(recorder.of('budget').flatMap(({ dropped }) => dropped)).toContain('ws_1')
    const pairs = model.requests.map(({ items }) => ({
      open: items.filter(({ type }) => type === 'openCall').length,
      late: items.filter((item) => item.type === 'call' && item.resultOnly).length,
    }))
    expect(pairs.filter(({ open, late: results }) => results > open)).toEqual([])
    expect(pairs).toContainEqual({ open: 1, late: 1 })
  })

  it('finds its call still there, however much came between', async () => {
    const late = searched('ws_1', 'found late', { tool: '', args: {}, resultOnly: true })
    const more = (n: number) => [{ text: 'word '.repeat(400) }, { call: 'look', args: { n } }]
    const model = scriptedModel([
      { parts: [{ item: openCall('ws_1') }, { call: 'look' }] },
      more(1),
      more(2),
      more(3),
      [{ item: late }, { call: 'look', args: { n: 4 } }],
      [{ text: 'so' }],
    ])
    const tools = [sampleTool('look', () => 'x')]
    const runner = new TurnRunner({ model, tools, budget: { maxTokens: 1_700 } })
    const recorder = eventRecorder(runner)
    expect(await runner.run({ message: 'go' })).toMatchObject({ status: 'completed' })
    expect(recorder.of('budget').flatMap(({ dropped }) => dropped)).not.toEqual([])
    const counts = model.requests.map(
      ({ items }) => items.filter(({ type }) => type === 'openCall').length,
    )
    expect(counts).toEqual([0, 1, 1, 1, 1, 1])
    expect(
      model.requests.at(-1)?.items.some((item) => item.type === 'call' && item.resultOnly),
    ).toBe(true)
  })
})

describe('a call that a provider asks leave for', () => {
  const gated = openCall('ws_1', { kind: 'approval' })
  const result = searched('ws_1', 'found', { tool: '', args: {}, resultOnly: true })
  const play = (...steps: Parameters<typeof scriptedModel>[0][]) => {
    const store = memoryStore()
    const runners = steps.map((script) => new TurnRunner({ store, model: scriptedModel(script) }))
    return { store, runners }
  }
  const no = ({ gates }: TurnOutcome) =>
    gates.map(({ id }) => ({ gate: id, approve: false, decidedBy: 'ann' }))

  it.each(['at once', 'after a restart'])(
    'stays declined when the provider has a result of it %s',
    async (when) => {
      const late = [{ item: result }, { text: 'so' }]
      const steps = when === 'at once' ? [[late], []] : [[[{ text: 'well' }]], [late]]
      const { store, runners } = play([[{ item: gated }]], ...steps)
      const [first, second, third] = runners
      const asked = await first?.run({ message: 'go', conversation: 'k' })
      const decisions = no(asked as TurnOutcome)
      const resumed = await second?.resume({ conversation: 'k', decisions })
      const last =
        when === 'at once' ? resumed : await third?.run({ message: 'on', conversation: 'k' })
      expect(last).toMatchObject({ status: 'completed', text: 'so' })
      const declined = await store.get('k', 'settlement', 'ws_1')
      expect(declined?.data).toMatchObject({ settlement: 'denied' })
      expect(last?.toolCalls.at(-1)).toMatchObject({ id: 'ws_1~2', settlement: 'ok' })
    },
  )

  it('holds up nobody once the provider has a result of it, asked or not', async () => {
    const { store, runners } = play([[{ item: gated }, { item: result }]], [[{ text: 'so' }]])
    const [first, second] = runners
    expect((await first?.run({ message: 'go', conversation: 'k' }))?.status).toBe('suspended')
    const outcome = await second?.resume({ conversation: 'k', decisions: [] })
    expect(outcome).toMatchObject({ status: 'completed', text: 'so' })
    expect(await store.openGates()).toEqual([])
    const settled = await store.get('k', 'settlement', 'ws_1')
    expect(settled?.data).toMatchObject({ settlement: 'ok' })
  })
})

describe('a call that a response left open', () => {
  const run = async (open: OpenCallItem, item: CallItem) => {
    const steps = [
      { parts: [{ item: open }], finish: 'pause' as const },
      [{ item }, { text: 'so' }],
    ]
    const { toolCalls } = await new TurnRunner({ model: scriptedModel(steps) }).run({
      message: 'go',
    })
    return toolCalls.map(({ id, args }) => ({ id, args }))
  }

  it('is not the whole call that comes later under the same id', async () => {
    const later = searched('ws_1', 'found', { args: { q: 'other' } })
    expect(await run(openCall('ws_1'), later)).toEqual([{ id: 'ws_1~2', args: { q: 'other' } }])
  })

  it('is the stored item that comes again when it is done', async () => {
    const stored = {
      provider: 'p',
      api: 'scripted',
      type: 'search',
      origin: 'conflated',
      itemId: 'ws_1',
    } as const
    const done = searched('ws_1', 'found', { wire: stored, args: { q: 'x', pages: 2 } })
    expect(await run({ ...openCall('ws_1'), wire: stored }, done)).toEqual([
      { id: 'ws_1', args: { q: 'x', pages: 2 } },
    ])
  })
})

const approval = { kind: 'approval', server: 'crm' } as const

async function asking(gate: OpenCallItem['gate'] = approval, clock = testClock()) {
  const store = memoryStore({ clock })
  const model = scriptedModel([[{ text: 'may I?' }, { item: openCall('ask_1', gate) }]])
  const outcome = await new TurnRunner({ model, store, testing: { clock } }).run({
    message: 'go',
    conversation: 'k',
  })
  const next = () => {
    const then = scriptedModel([[{ text: 'done' }]])
    const runner = new TurnRunner({ model: then, store, testing: { clock } })
    const answered = () => {
      const item = then.requests[0]?.items.find(({ type }) => type === 'openCall')
      return (item as OpenCallItem | undefined)?.gate?.decision
    }
    return { runner, answered }
  }
  return { store, outcome, gate: outcome.gates[0] as Gate, next }
}

describe('a provider that asks leave', () => {
  it('suspends the turn with its request as a gate', async () => {
    const { outcome } = await asking({ kind: 'consent', url: 'https://consent.example/1' })
    expect(outcome).toMatchObject({
      status: 'suspended',
      gates: [
        {
          kind: 'link',
          from: 'provider',
          toolCallId: 'ask_1',
          tool: 'web_search',
          context: { url: 'https://consent.example/1' },
          url: 'https://consent.example/1',
        },
      ],
    })
  })

  it('is told that the person consented, and its link is shown only if it is safe to open', async () => {
    const { gate, next } = await asking({ kind: 'consent', url: 'javascript:alert(1)' })
    expect(gate.url).toBe(undefined)
    const { runner, answered } = next()
    const decisions = [{ gate: gate.id, decidedBy: 'ann', done: true } as const]
    expect((await runner.resume({ conversation: 'k', decisions })).status).toBe('completed')
    expect(answered()).toEqual({ approved: true })
  })

  it.each([
    [{ approve: true }, { approved: true }, []],
    [{ approve: false, reason: 'no' }, { approved: false, reason: 'no' }, ['denied']],
  ])('is answered on its own request: %o', async (answer, decision, settlements) => {
    const { gate, next } = await asking()
    const { runner, answered } = next()
    const decisions = [{ gate: gate.id, decidedBy: 'ann', ...answer }]
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome.status).toBe('completed')
    expect(answered()).toEqual(decision)
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(settlements)
    const again = next()
    await again.runner.run({ conversation: 'k', message: 'more' })
    expect(again.answered()).toEqual(decision)
  })

  it('waits on while nobody decides, and is declined when the conversation goes on', async () => {
    const { next, store } = await asking()
    const waiting = await next().runner.resume({ conversation: 'k', decisions: [] })
    expect(waiting).toMatchObject({ status: 'suspended', gates: [{ toolCallId: 'ask_1' }] })
    const { runner, answered } = next()
    const outcome = await runner.run({ conversation: 'k', message: 'never mind' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'abandoned' }] })
    expect(answered()?.approved).toBe(false)
    expect(await store.openGates('k')).toEqual([])
  })

  it('is not told of an approval that was used too late', async () => {
    const clock = testClock()
    const { next, store, gate } = await asking(approval, clock)
    await store.decideGate('k', gate.id, { verdict: 'approved', decidedBy: 'ann' })
    clock.advance(gate.expiresAt - gate.openedAt)
    const { runner, answered } = next()
    const outcome = await runner.resume({ conversation: 'k', decisions: [] })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'abandoned' }] })
    expect(answered()?.approved).toBe(false)
  })

  it('gets its answer over the wire', async () => {
    const api = 'openai-responses'
    const request = {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      name: 'delete_row',
      server_label: 'crm',
      arguments: '{"row":7}',
    }
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'deleted', annotations: [] }],
    }
    const respond = (item: object) => ({
      events: [
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
      ],
    })
    const { validate } = wire(api)
    const exchanges = [respond(request), respond(message)]
    const server = await loopbackProvider({ api, exchanges, validate })
    running.push(server)
    const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 })
    const runner = new TurnRunner({ model: openaiResponses({ client, model: 'gpt-5.4' }) })
    const first = await runner.run({ message: 'delete row 7' })
    const [gate] = first.gates
    expect(gate).toMatchObject({
      kind: 'approval',
      from: 'provider',
      tool: 'delete_row',
      args: { row: 7 },
    })
    const decisions = [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann' }]
    const outcome = await runner.resume({ conversation: first.conversation, decisions })
    expect(outcome).toMatchObject({ status: 'completed', text: 'deleted' })
    const body = server.requests[1]?.body as { input: { type: string }[] } | undefined
    expect(body?.input).toContainEqual(
      expect.objectContaining({
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_1',
        approve: true,
      }),
    )
  })
})
