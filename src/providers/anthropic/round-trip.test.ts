import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { syntheticIds } from '../../model/synthetic-id.ts'
import type { CallItem, HistoryItem } from '../../records/history-item.ts'
import { messagesAdapter } from './adapter.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const decode = (payload: unknown) => messagesAdapter.decode(payload, { mint }).items

function encode(items: readonly HistoryItem[]) {
  const target = messagesAdapter.encoder()
  target.push(...items)
  return target.part()
}

// Few ids and names, so that they collide, and all sorts that the wire does not take.
const ids = fc.constantFrom(
  'toolu_1',
  'toolu_2',
  'srvtoolu_1',
  'srvtoolu_2',
  'mcp_1',
  'a.b',
  '',
  null,
)
const names = fc.constantFrom(
  'web_search',
  'code_execution',
  'pay',
  'constructor',
  '',
  'x'.repeat(300),
)
const texts = fc.constantFrom('', ' ', 'Hello', '{"a":')
const inputs = fc.constantFrom({}, { a: 1 }, '{"a":1}', '[', null, [1])
const callers = fc.option(
  fc.oneof(
    fc.constant({ type: 'direct' }),
    ids.map((tool_id) => ({ type: 'code_execution_20260120', tool_id })),
  ),
  { nil: undefined },
)
const calls = fc.record(
  {
    type: fc.constantFrom('tool_use', 'server_tool_use', 'mcp_tool_use', 'new_tool_use'),
    id: ids,
    name: names,
    input: inputs,
    caller: callers,
  },
  { requiredKeys: ['type'] },
)
const contents = fc.oneof(
  texts,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text: texts }),
      fc.constantFrom<unknown>(
        { type: 'web_search_result', url: 'https://a.example/' },
        { type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'A' } },
        { type: 'video' },
        null,
      ),
    ),
    { maxLength: 2 },
  ),
  fc.constantFrom<unknown>({ type: 'x_tool_result_error', error_code: 'e' }, null, undefined),
)
const results = fc.record(
  {
    type: fc.constantFrom(
      'tool_result',
      'web_search_tool_result',
      'mcp_tool_result',
      'new_tool_result',
    ),
    tool_use_id: ids,
    content: contents,
    is_error: fc.boolean(),
    caller: callers,
  },
  { requiredKeys: ['type'] },
)
const others = fc.oneof(
  fc.record({ type: fc.constant('text'), text: texts }),
  fc.record({ type: fc.constant('thinking'), thinking: texts, signature: texts }),
  fc.record({ type: fc.constant('redacted_thinking'), data: texts }),
  fc.constantFrom<unknown>(
    { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
    { type: 'compaction', content: 'x' },
    {},
    null,
  ),
)
const messages = fc.array(
  fc.record({
    role: fc.constantFrom('user', 'assistant', 'assistant', 'system'),
    content: fc.oneof(texts, fc.array(fc.oneof(calls, results, others), { maxLength: 5 })),
  }),
  { maxLength: 6 },
)
const requests = fc.record(
  { messages, container: fc.constantFrom('container_1', undefined), system: texts },
  { requiredKeys: ['messages'] },
)

const strangers: fc.Arbitrary<HistoryItem> = fc
  .record({
    id: fc.string({ minLength: 1, maxLength: 80 }),
    tool: fc.string({ maxLength: 300 }),
    executedBy: fc.constantFrom('runner' as const, 'provider' as const),
    parts: fc.array(
      texts.map((text) => ({ type: 'text' as const, text })),
      { maxLength: 2 },
    ),
    response: fc.constantFrom('r1', 'r2'),
    isOpen: fc.boolean(),
  })
  .map(({ id, parts, isOpen, ...rest }): CallItem => {
    const wire = { provider: 'openai', api: 'openai-chat', type: 'function', callId: id } as const
    const call = {
      type: 'call',
      id,
      args: {},
      wire: { ...wire, origin: 'natural' },
      ...rest,
    } as const
    return isOpen ? call : { ...call, result: { isError: false, parts } }
  })

describe('round trip', () => {
  it('sends nothing that the provider refuses, whatever was received', () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(messagesAdapter.validate(encode(decode(request)))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('sends nothing that the provider refuses, whatever others made', () => {
    const histories = fc.tuple(requests, fc.array(strangers, { maxLength: 6 }), requests)
    fc.assert(
      fc.property(histories, ([before, between, after]) => {
        const items = [...decode(before), ...between, ...decode(after)]
        expect(messagesAdapter.validate(encode(items))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('gives what it sent again when that is decoded', () => {
    fc.assert(
      fc.property(messages, texts, (said, prompt) => {
        const request = { messages: [{ role: 'user', content: 'Hi' }, ...said], system: prompt }
        const { messages: sent, system } = encode(decode(request))
        expect(encode(decode({ messages: sent, ...(system && { system }) }))).toEqual({
          messages: sent,
          ...(system && { system }),
        })
      }),
      { numRuns: 500 },
    )
  })
})
