import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { loopbackProvider } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type WireApi, wire } from '../../src/wire/index.ts'
import { samplesOf } from './provider-samples.ts'

type Items = readonly { readonly type?: string }[]

/** A provider over HTTP, and a runner that can die: each `runner()` knows only what the store holds. */
async function connect(api: WireApi, ...bodies: readonly object[]) {
  const exchanges = bodies.map((body) => ({ body }))
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const store = memoryStore()
  const ran: unknown[] = []
  const roll = new Tool({
    name: 'roll',
    description: 'Rolls a die.',
    inputSchema: z.object({ who: z.string() }),
    effect: 'read',
    approval: ({ who }) => who === 'bob',
    handler: ({ who }) => {
      ran.push(who)
      return `${who} rolled a 4`
    },
  }) as Tool
  const runner = () =>
    new TurnRunner({
      model: samplesOf(api).open(server.url, { streaming: false }),
      tools: [roll],
      store,
    })
  const list = (at: number) => {
    const { input, messages } = (server.requests[at]?.body ?? {}) as Record<string, Items>
    return input ?? messages ?? []
  }
  const violations = () => server.requests.flatMap((request) => request.violations)
  return { runner, store, ran, list, violations, server }
}

const conversation = 'k'
const calls = (outcome: { toolCalls: readonly { id: string; settlement: string }[] }) =>
  outcome.toolCalls.map(({ id, settlement }) => `${id} ${settlement}`)

describe.each(['openai-responses', 'foundry'] as const)('a provider gate over %s', (api) => {
  const response = (id: string, ...output: object[]) => ({ id, status: 'completed', output })
  const said = (text: string) => ({
    type: 'message',
    id: `msg_${text}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  })
  const request = (id: string) => ({
    type: 'mcp_approval_request',
    id,
    server_label: 'crm',
    name: 'delete',
    arguments: '{"row":7}',
  })
  const done = {
    type: 'mcp_call',
    id: 'mcp_1',
    server_label: 'crm',
    name: 'delete',
    arguments: '{"row":7}',
    status: 'completed',
    output: 'deleted',
    approval_request_id: 'mcpr_1',
  }
  const roll = (who: string) => ({
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'roll',
    arguments: JSON.stringify({ who }),
    status: 'completed',
  })
  const answersIn = (items: Items) => items.filter(({ type }) => type === 'mcp_approval_response')

  it('is answered by a runner that starts later, once, and stays answered', async () => {
    const played = await connect(
      api,
      response('r1', request('mcpr_1')),
      response('r2', done, said('done')),
      response('r3', said('again')),
    )
    const first = await played.runner().run({ conversation, message: 'delete row 7' })
    expect(first).toMatchObject({ status: 'suspended', toolCalls: [] })
    const [gate] = first.gates
    expect(gate).toMatchObject({
      kind: 'approval',
      from: 'provider',
      tool: 'delete',
      args: { row: 7 },
    })
    const decisions = [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann' }]
    const second = await played.runner().resume({ conversation, decisions })
    expect(second).toMatchObject({ status: 'completed', text: 'done' })
    expect(second.toolCalls).toMatchObject([
      { id: 'mcp_1', tool: 'delete', args: { row: 7 }, executedBy: 'provider', settlement: 'ok' },
    ])
    const third = await played.runner().run({ conversation, message: 'and?' })
    expect(third.status).toBe('completed')
    const answer = {
      type: 'mcp_approval_response',
      approval_request_id: 'mcpr_1',
      approve: true,
    }
    expect(answersIn(played.list(1))).toEqual([answer])
    expect(answersIn(played.list(2))).toEqual([answer])
    expect(played.list(2).filter(({ type }) => type === 'mcp_call')).toEqual([done])
    expect(played.violations()).toEqual([])
    // A second answer to the same gate finds none.
    await expect(played.runner().resume({ conversation, decisions })).rejects.toThrow(/gate/i)
  })

  it('that is declined is answered so, and its call ends as denied', async () => {
    const played = await connect(
      api,
      response('r1', request('mcpr_1')),
      response('r2', said('left alone')),
    )
    const { gates } = await played.runner().run({ conversation, message: 'delete row 7' })
    const no = { approve: false, reason: 'not today', decidedBy: 'ann' }
    const outcome = await played
      .runner()
      .resume({ conversation, decisions: [{ gate: gates[0]?.id ?? '', ...no }] })
    expect(outcome).toMatchObject({ status: 'completed', text: 'left alone' })
    expect(outcome.toolCalls).toMatchObject([
      { id: 'mcpr_1', tool: 'delete', args: { row: 7 }, settlement: 'denied' },
    ])
    expect(answersIn(played.list(1))).toEqual([
      {
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_1',
        approve: false,
        reason: 'not today',
      },
    ])
    expect(played.violations()).toEqual([])
  })

  it('and a gate of ours in one response are answered one after the other', async () => {
    const played = await connect(
      api,
      response('r1', request('mcpr_1'), roll('bob')),
      response('r2', done, said('both')),
    )
    const first = await played.runner().run({ conversation, message: 'both' })
    expect(first.gates.map(({ from }) => from).sort()).toEqual(['provider', 'runner'])
    const answer = (from: string) => ({
      gate: first.gates.find((gate) => gate.from === from)?.id ?? '',
      approve: true,
      decidedBy: 'ann',
    })
    const second = await played.runner().resume({ conversation, decisions: [answer('runner')] })
    expect(second).toMatchObject({
      status: 'suspended',
      gates: [{ kind: 'approval', from: 'provider' }],
    })
    expect(played.ran).toEqual(['bob'])
    const third = await played.runner().resume({ conversation, decisions: [answer('provider')] })
    expect(third).toMatchObject({ status: 'completed', text: 'both' })
    expect(played.ran).toEqual(['bob'])
    expect(played.list(1).map(({ type }) => type)).toEqual([
      'message',
      'mcp_approval_request',
      'mcp_approval_response',
      'function_call',
      'function_call_output',
    ])
    expect(played.violations()).toEqual([])
  })

  it('lists what the provider ran and what the runner ran in the order asked', async () => {
    const search = (id: string) => ({
      type: 'web_search_call',
      id,
      status: 'completed',
      action: { type: 'search', query: 'dice', sources: [] },
    })
    const played = await connect(
      api,
      response('r1', search('ws_1'), roll('ann'), search('ws_2')),
      response('r2', search('ws_3'), said('four')),
    )
    const outcome = await played.runner().run({ conversation, message: 'roll' })
    expect(calls(outcome)).toEqual(['ws_1 ok', 'call_1 ok', 'ws_2 ok', 'ws_3 ok'])
    expect(played.violations()).toEqual([])
  })
})

it('opens a gate for a consent that foundry asks for, and continues after it', async () => {
  const consent = {
    type: 'oauth_consent_request',
    id: 'oauthreq_1',
    consent_link: 'https://example.com/consent',
    server_label: 'mail',
  }
  const message = { type: 'message', id: 'msg_1', role: 'assistant' }
  const content = [{ type: 'output_text', text: 'read', annotations: [] }]
  const played = await connect(
    'foundry',
    { id: 'r1', status: 'incomplete', output: [consent] },
    { id: 'r2', status: 'completed', output: [{ ...message, content }] },
  )
  const first = await played.runner().run({ conversation, message: 'read my mail' })
  const [gate] = first.gates
  expect(first.status).toBe('suspended')
  expect(gate).toMatchObject({
    kind: 'link',
    from: 'provider',
    context: { url: 'https://example.com/consent' },
  })
  const decisions = [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann' }]
  const second = await played.runner().resume({ conversation, decisions })
  expect(second).toMatchObject({ status: 'completed', text: 'read' })
  expect(played.violations()).toEqual([])
})

describe('a call that anthropic-messages left open', () => {
  const message = (id: string, stop_reason: string, ...content: object[]) => ({
    id,
    type: 'message',
    role: 'assistant',
    content,
    stop_reason,
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const text = (words: string) => ({ type: 'text', text: words })
  const input = { query: 'dice', deep: { also: [1] } }
  const searching = {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'tool_search_tool_bm25',
    input,
  }
  const found = {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'tool_search_tool_search_result', tool_references: [] },
  }
  const roll = (id: string, who: string) => ({ type: 'tool_use', id, name: 'roll', input: { who } })
  const record = {
    id: 'srvtoolu_1',
    tool: 'tool_search_tool_bm25',
    args: input,
    executedBy: 'provider',
    settlement: 'ok',
  }

  it('is settled by the next response, with the arguments that it began with', async () => {
    const played = await connect(
      'anthropic-messages',
      message('m1', 'tool_use', searching, roll('toolu_1', 'ann')),
      message('m2', 'tool_use', found, roll('toolu_2', 'ann')),
      message('m3', 'end_turn', text('Done.')),
    )
    const outcome = await played.runner().run({ conversation, message: 'go' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(calls(outcome)).toEqual(['toolu_1 ok', 'srvtoolu_1 ok', 'toolu_2 ok'])
    expect(outcome.toolCalls[1]).toMatchObject(record)
    expect(played.violations()).toEqual([])
  })

  it('is settled after a gate and a restart as well', async () => {
    const played = await connect(
      'anthropic-messages',
      message('m1', 'tool_use', searching, roll('toolu_1', 'bob')),
      message('m2', 'end_turn', found, text('Done.')),
      message('m3', 'end_turn', text('Still.')),
    )
    const { status, gates } = await played.runner().run({ conversation, message: 'go' })
    expect(status).toBe('suspended')
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const outcome = await played.runner().resume({ conversation, decisions })
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(played.ran).toEqual(['bob'])
    expect(outcome.toolCalls).toMatchObject([{ id: 'toolu_1' }, record])
    await played.runner().run({ conversation, message: 'and?' })
    expect(played.list(2)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [searching, roll('toolu_1', 'bob')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      { role: 'assistant', content: [found, text('Done.')] },
      { role: 'user' },
    ])
    expect(played.violations()).toEqual([])
  })

  it('is sent as text once the conversation continues without its result', async () => {
    const played = await connect(
      'anthropic-messages',
      message('m1', 'tool_use', searching, roll('toolu_1', 'ann')),
      message('m2', 'end_turn', text('Never mind.')),
      message('m3', 'end_turn', text('Yes.')),
    )
    await played.runner().run({ conversation, message: 'go' })
    const outcome = await played.runner().run({ conversation, message: 'sure?' })
    expect(outcome.status).toBe('completed')
    expect(JSON.stringify(played.list(2))).not.toContain('server_tool_use')
    expect(JSON.stringify(played.list(2))).toContain('tool_search_tool_bm25')
    expect(played.violations()).toEqual([])
  })
})
