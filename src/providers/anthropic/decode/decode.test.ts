import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../../../core/error/error.ts'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import { decodePayload } from './decode.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const decode = (payload: unknown, source?: string) =>
  decodePayload(payload, { mint, ...(source !== undefined && { source }) })
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'pay', input })
const result = (tool_use_id: string, content: unknown = 'ok') => ({
  type: 'tool_result',
  tool_use_id,
  content,
})
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })
const found = (tool_use_id: string) => ({
  type: 'web_search_tool_result',
  tool_use_id,
  content: [],
})
const response = (content: unknown, stop_reason: unknown = 'tool_use') => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content,
  stop_reason,
})

describe('decodePayload', () => {
  it('reads a response and how it ended', () => {
    expect(decode(response([use('toolu_1', { sum: 1 })]))).toMatchObject({
      items: [{ type: 'call', id: 'toolu_1', args: { sum: 1 }, response: 'msg_1' }],
      finish: { reason: 'tools', rawReason: 'tool_use', responseId: 'msg_1', unfinished: [] },
    })
  })

  it('admits no call of a response that was cut', () => {
    expect(decode(response([use('toolu_1')], 'max_tokens'))).toMatchObject({
      items: [],
      finish: { reason: 'length', unfinished: [{ tool: 'pay', callId: 'toolu_1' }] },
    })
    expect(decode(response([use('toolu_1')], null)).items).toEqual([])
  })

  it('reads a request: system prompt, messages and container', () => {
    const { items } = decode({
      system: 'Be brief.',
      container: 'container_1',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    })
    expect(items).toMatchObject([
      { type: 'message', role: 'system', parts: [{ text: 'Be brief.' }] },
      { type: 'message', role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'assistant', providerData: { data: { container: { id: 'container_1' } } } },
    ])
  })

  it('reads one block, and a list of blocks', () => {
    expect(decode(use('toolu_1')).items).toMatchObject([{ type: 'call', id: 'toolu_1' }])
    expect(decode([search('srvtoolu_1'), found('srvtoolu_1')]).items).toMatchObject([
      { type: 'call', id: 'srvtoolu_1', result: { isError: false } },
    ])
    expect(decode(result('toolu_9')).items).toMatchObject([
      { type: 'call', id: 'toolu_9', resultOnly: true, executedBy: 'runner' },
    ])
    expect(decode(found('srvtoolu_9')).items).toMatchObject([
      { type: 'call', id: 'srvtoolu_9', resultOnly: true, executedBy: 'provider' },
    ])
  })

  it.each([null, 7, true, {}, { model: 'm' }])('refuses %j', (payload) => {
    let error: unknown
    try {
      decode(payload)
    } catch (thrown) {
      error = thrown
    }
    expect(isBobbinError(error, 'E_UNKNOWN_PAYLOAD')).toBe(true)
  })

  it('throws what an error body says', () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
    expect(() => decode(body)).toThrow('slow down')
  })

  it('keeps junk as raw data', () => {
    expect(
      decode([{ role: 'assistant', content: [null, 3, {}] }, { role: 'robot' }]).items,
    ).toEqual([
      { type: 'raw', api: 'anthropic-messages', value: null, role: 'assistant', response: '#0' },
      { type: 'raw', api: 'anthropic-messages', value: 3, role: 'assistant', response: '#0' },
      { type: 'raw', api: 'anthropic-messages', value: {}, role: 'assistant', response: '#0' },
      { type: 'raw', api: 'anthropic-messages', value: { role: 'robot' }, role: 'user' },
    ])
  })

  it('judges the arguments of a whole response as they were sent', () => {
    const source = JSON.stringify(response([use('toolu_1', 'X')])).replace(
      '"X"',
      '{"sum":1,"sum":2}',
    )
    expect(decode(JSON.parse(source), source).items).toMatchObject([
      { fault: { rule: 'duplicate-key' }, rawArgs: '{"sum":1,"sum":2}' },
    ])
  })

  it('survives content that nests 20,000 deep', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown
    const blocks = [
      use('toolu_1', { deep }),
      { ...search('srvtoolu_1'), input: { deep } },
      { ...found('srvtoolu_1'), content: deep },
      { type: 'new_tool_result', tool_use_id: 'x', content: { type: 'odd', deep } },
      { type: 'hologram', deep },
    ]
    const { items } = decode(response(blocks))
    expect(items).toHaveLength(4)
    expect(items[0]).toMatchObject({ type: 'call', fault: { rule: 'too-deep' } })
  })
})

describe('decodePayload: pairing', () => {
  it('settles the calls of each response where ids come again', () => {
    const turn = (text: string) => [
      { role: 'assistant', content: [use('call_0', { text })] },
      { role: 'user', content: [result('call_0', text)] },
    ]
    const { items } = decode([...turn('one'), ...turn('two')])
    expect(items).toMatchObject([
      { id: 'call_0', args: { text: 'one' }, result: { parts: [{ text: 'one' }] } },
      { id: 'call_0~2', args: { text: 'two' }, result: { parts: [{ text: 'two' }] } },
    ])
  })

  it('pairs server calls without id by their kind', () => {
    const { id: _, ...call } = search('')
    const { tool_use_id: _id, ...answer } = found('')
    expect(decode([call, answer]).items).toMatchObject([
      { type: 'call', wire: { origin: 'synthetic' }, result: { isError: false } },
    ])
  })

  it('lets no server result settle a call of the runner’s, nor the other way round', () => {
    const { items } = decode([
      { role: 'assistant', content: [use('toolu_1'), found('toolu_1'), search('srvtoolu_1')] },
      { role: 'user', content: [result('srvtoolu_1', 'forged')] },
    ])
    expect(items.map(({ type }) => type)).toEqual(['call', 'raw', 'openCall', 'raw'])
    expect(items[0]).not.toHaveProperty('result')
  })
})

describe('fixtures', () => {
  it('show every wire type of the protocol', () => {
    const folder = new URL('../fixtures/', import.meta.url)
    const covered = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        const fixture = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as object
        return (fixture as { covers: string[] }).covers
      })
    expect([...new Set(covered)].toSorted()).toEqual([
      'advisor_tool_result',
      'bash_code_execution_tool_result',
      'code_execution_tool_result',
      'mcp_tool_result',
      'mcp_tool_use',
      'server_tool_use',
      'text_editor_code_execution_tool_result',
      'tool_result',
      'tool_search_tool_result',
      'tool_use',
      'web_fetch_tool_result',
      'web_search_tool_result',
    ])
  })
})
