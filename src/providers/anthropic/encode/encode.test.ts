import { describe, expect, it } from 'vitest'
import type { Repair } from '../../../model/wire/encode-groups.ts'
import { foreignCallText } from '../../../model/wire/foreign-text.ts'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import type { CallItem, HistoryItem, OpenCallItem } from '../../../records/history-item.ts'
import { decodePayload } from '../decode/decode.ts'
import { validateRequest } from '../validate/validate.ts'
import { encodeHistory, type MessagesEncodeOptions } from './encode.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const decode = (payload: unknown) => decodePayload(payload, { mint }).items

function encode(items: readonly HistoryItem[], options: MessagesEncodeOptions = {}) {
  const repairs: Repair[] = []
  const part = encodeHistory(items, { ...options, onRepair: (repair) => repairs.push(repair) })
  if (options.continues !== true) expect(validateRequest(part)).toEqual([])
  return { ...part, repairs }
}

const said = (role: 'user' | 'assistant' | 'system', text: string): HistoryItem => ({
  type: 'message',
  role,
  parts: [{ type: 'text', text }],
})
const call = (id: string, more: Partial<CallItem> = {}): CallItem => ({
  type: 'call',
  id,
  tool: 'pay',
  args: { sum: 1 },
  wire: {
    provider: 'openai',
    api: 'openai-responses',
    type: 'function_call',
    callId: id,
    origin: 'natural',
  },
  executedBy: 'runner',
  result: { isError: false, parts: [{ type: 'text', text: 'paid' }] },
  response: 'r1',
  ...more,
})
const search: CallItem = call('ws_1', {
  tool: 'web_search',
  args: { query: 'x' },
  executedBy: 'provider',
})
const asked = (content: unknown) => ({ role: 'assistant', content })
const response = (content: unknown, more: object = {}) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  stop_reason: 'tool_use',
  content,
  ...more,
})
const use = (id: string, more: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'pay',
  input: {},
  ...more,
})
const server = (id: string, name = 'web_search') => ({
  type: 'server_tool_use',
  id,
  name,
  input: { q: 1 },
})
const found = (tool_use_id: string) => ({
  type: 'web_search_tool_result',
  tool_use_id,
  content: [],
})
const settled = (items: readonly HistoryItem[]): HistoryItem[] =>
  items.map((item) =>
    item.type === 'call' && item.executedBy === 'runner'
      ? { ...item, result: { isError: false, parts: [{ type: 'text', text: 'ok' }] } }
      : item,
  )

describe('encoder: order', () => {
  it('puts all results of a response first in one user message', () => {
    const { messages } = encode([said('user', 'Go'), call('a'), call('b'), said('user', 'And?')])
    expect(messages).toMatchObject([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ id: 'a' }, { id: 'b' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'paid' },
          { type: 'tool_result', tool_use_id: 'b' },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  it('moves calls after the text and the finished server calls of their response', () => {
    const items = decode(
      response([use('a'), { type: 'text', text: 'x' }, server('srvtoolu_1'), found('srvtoolu_1')]),
    )
    const types = ['text', 'server_tool_use', 'web_search_tool_result', 'tool_use']
    expect(encode(settled(items)).messages[0]).toMatchObject(asked(types.map((type) => ({ type }))))
  })

  it('leaves calls that code made where they are', () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_c' }
    const content = [
      server('srvtoolu_c', 'code_execution'),
      use('a', { caller }),
      server('srvtoolu_2'),
      found('srvtoolu_2'),
      { type: 'text', text: 'x' },
    ]
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const part = encode(settled(decode(response(content, { container }))))
    expect(part.messages[0]).toEqual(asked(content))
    expect(part.container).toBe('container_1')
  })

  it('sends a mixed turn back as it came, and the late result where it came', () => {
    const first = decode(response([use('a'), server('srvtoolu_1')]))
    const second = decode(response([found('srvtoolu_1'), use('b')], { id: 'msg_2' }))
    const { messages, repairs } = encode(settled([said('user', 'Go'), ...first, ...second]))
    expect(repairs).toEqual([])
    expect(messages.slice(1, 4)).toMatchObject([
      asked([use('a'), server('srvtoolu_1')]),
      { role: 'user', content: [{ tool_use_id: 'a' }] },
      asked([found('srvtoolu_1'), use('b')]),
    ])
  })
})

describe('encoder: ids', () => {
  it('fits ids of others to the charset, each call and its result alike', () => {
    const { messages } = encode([call('functions.pay:0'), call('functions.pay:1')])
    const made = messages[0]?.content as { id: string }[] | undefined
    const ids = (made ?? []).map(({ id }) => id)
    expect(ids[0]).toMatch(/^functions_pay_0_[0-9a-f]{16}$/)
    expect(new Set(ids).size).toBe(2)
    expect(messages[1]?.content).toMatchObject(ids.map((tool_use_id) => ({ tool_use_id })))
  })

  it('gives its own ids back verbatim, and parts those that came twice', () => {
    const items = decode(response([use('toolu_1'), use('toolu_1')]))
    const { messages } = encode(settled(items))
    expect(messages[0]?.content).toMatchObject([
      { id: 'toolu_1' },
      { id: expect.stringMatching(/^toolu_1_2_[0-9a-f]{16}$/) as string },
    ])
  })
})

describe('encoder: what other providers made', () => {
  it('tells their server calls as text', () => {
    const { messages } = encode([search])
    expect(messages).toEqual([asked([{ type: 'text', text: foreignCallText(search) }])])
  })

  it('tells its own server calls as text where they came from another endpoint', () => {
    const context = { mint, endpoint: 'https://a.example' }
    const payload = response([server('srvtoolu_1'), found('srvtoolu_1')])
    const { items } = decodePayload(payload, context)
    const there = encode(items, { endpoint: 'https://b.example' }).messages
    expect(there).toMatchObject([asked([{ type: 'text' }])])
    const here = encode(items, { endpoint: 'https://a.example' }).messages
    expect(here).toEqual([asked(payload.content)])
  })

  it.each([
    ['an id of another form', server('toolu_1'), found('toolu_1')],
    ['a name that is refused', server('srvtoolu_1', 'teleport'), found('srvtoolu_1')],
    [
      'pages without ciphertext',
      server('srvtoolu_1'),
      { ...found('srvtoolu_1'), content: [{ type: 'web_search_result' }] },
    ],
  ])('tells server calls with %s as text', (_, made, answer) => {
    const { messages } = encode(decode(response([made, answer])))
    expect(messages).toMatchObject([asked([{ type: 'text' }])])
  })

  it('leaves their reasoning and raw items out, and says so once', () => {
    const thought: HistoryItem = { type: 'thought', text: 'Hm', response: 'r1' }
    const raw: HistoryItem = { type: 'raw', api: 'gemini', value: {}, response: 'r1' }
    const { messages, repairs } = encode([thought, thought, raw, call('a')])
    expect(messages[0]).toMatchObject(asked([{ type: 'tool_use' }]))
    expect(repairs.map(({ kind, item }) => [kind, item])).toEqual([
      ['left-out', 'thought'],
      ['left-out', 'raw'],
    ])
  })

  it('wraps arguments that were not an object', () => {
    const args = { $unparsed: { sha256: 'x', bytes: 1, head: '[' } }
    expect(encode([call('a', { args })]).messages[0]).toMatchObject(asked([{ input: args }]))
  })

  it('names media that it cannot take', () => {
    const audio = { type: 'media', kind: 'audio', mimeType: 'audio/mp3' } as const
    const source = { type: 'base64', data: 'AAAA' } as const
    const foreign = { type: 'file', id: 'file_1', api: 'openai-responses' } as const
    const { messages } = encode([
      {
        type: 'message',
        role: 'user',
        parts: [
          { ...audio, source },
          { type: 'media', kind: 'image', source: foreign },
          {
            type: 'media',
            kind: 'document',
            mimeType: 'text/csv',
            source: { type: 'base64', data: btoa('a,b') },
          },
        ],
      },
    ])
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: '[audio audio/mp3]' },
      { type: 'text', text: '[image]' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
    ])
  })

  it('names media in the assistant’s own words', () => {
    const image: HistoryItem = {
      type: 'message',
      role: 'assistant',
      parts: [
        {
          type: 'media',
          kind: 'image',
          mimeType: 'image/png',
          source: { type: 'base64', data: 'A' },
        },
      ],
    }
    expect(encode([image]).messages).toEqual([asked([{ type: 'text', text: '[image image/png]' }])])
  })
})

describe('encoder: repairs', () => {
  it('makes up a missing result', () => {
    const { result: _, ...open } = call('a')
    const { messages, repairs } = encode([open, said('user', 'x')])
    expect(messages[1]?.content).toMatchObject([
      { tool_use_id: 'a', is_error: true },
      { text: 'x' },
    ])
    expect(repairs).toMatchObject([{ kind: 'missing-result', item: 'a' }])
  })

  it('puts a call before a stray result, unless the provider has it', () => {
    const items = decode({ type: 'tool_result', tool_use_id: 'toolu_9', content: 'late' })
    const { messages, repairs } = encode(items)
    expect(messages).toMatchObject([
      asked([{ type: 'tool_use', id: 'toolu_9', name: 'unknown_tool' }]),
      { role: 'user', content: [{ tool_use_id: 'toolu_9', content: 'late' }] },
    ])
    expect(repairs).toMatchObject([{ kind: 'stray-result' }])
    expect(encode(items, { continues: true }).messages).toMatchObject([{ role: 'user' }])
  })

  it('tells a stray server result as text', () => {
    const { messages, repairs } = encode(decode(found('srvtoolu_9')))
    expect(messages).toMatchObject([asked([{ type: 'text' }])])
    expect(repairs).toMatchObject([{ kind: 'stray-result' }])
  })

  it('keeps a server call open only as long as its result can come', () => {
    const items = decode(response([{ type: 'text', text: 'x' }, server('srvtoolu_1')]))
    expect(encode(items).messages).toMatchObject([asked([{ type: 'text' }, server('srvtoolu_1')])])
    const { messages } = encode([...items, said('user', 'Never mind.')])
    expect(messages[0]).toMatchObject(
      asked([{ text: 'x' }, { type: 'text', text: foreignCallText(items[1] as OpenCallItem) }]),
    )
  })

  it('cuts calls loose from code whose container is gone', () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_c' }
    const content = [server('srvtoolu_c', 'code_execution'), use('a', { caller })]
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const items = settled(decode(response(content, { container })))
    const before = encode(items, { now: () => Date.parse('2029-12-31') })
    expect(before).toMatchObject({ container: 'container_1', messages: [asked(content), {}] })
    const after = encode(items, { now: () => Date.parse('2030-01-02') })
    expect(after).not.toHaveProperty('container')
    expect(after.messages[0]).toEqual(asked([expect.objectContaining({ type: 'text' }), use('a')]))
    expect(after.repairs).toMatchObject([{ kind: 'missing-result', item: 'srvtoolu_c' }])
  })

  it('drops blank texts and reasoning that leads to nothing', () => {
    const items = decode(
      response(
        [
          { type: 'text', text: '\n\n' },
          { type: 'thinking', thinking: 'x', signature: 's' },
        ],
        { stop_reason: 'max_tokens' },
      ),
    )
    expect(encode([said('user', 'Go'), ...items]).messages).toEqual([
      { role: 'user', content: 'Go' },
    ])
  })
})

describe('encoder: system and state', () => {
  it('sends what stands first as the system prompt, and later ones in their place', () => {
    const part = encode([said('system', 'Be brief.'), said('user', 'Hi'), said('system', 'Now!')])
    expect(part).toMatchObject({
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Now!' },
      ],
    })
  })

  it('sends the container of the latest response', () => {
    const turn = (id: string) =>
      settled(decode(response([use(`toolu_${id}`)], { id, container: { id, expires_at: 'soon' } })))
    expect(encode([...turn('one'), ...turn('two')]).container).toBe('two')
  })

  it('counts an item that is listed twice as two', () => {
    const open: OpenCallItem = {
      ...(decode(
        response([server('srvtoolu_1')], { stop_reason: 'pause_turn' }),
      )[0] as OpenCallItem),
    }
    const { messages } = encode([call('a'), call('a', { response: 'r2' }), open, open])
    expect(messages.length).toBeGreaterThan(4)
  })
})
