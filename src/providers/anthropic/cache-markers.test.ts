import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/json/json.ts'
import type { ModelRequest } from '../../model/model.ts'
import type { CallItem, HistoryItem, MessageItem } from '../../records/history-item.ts'
import { messages } from './protocol.ts'

const cache_control = { type: 'ephemeral' }
const tools = ['a', 'b'].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }))
const said = (text: string, role: MessageItem['role'] = 'user'): HistoryItem => ({
  type: 'message',
  role,
  parts: [{ type: 'text', text }],
})
const call = (id: string): CallItem => ({
  type: 'call',
  id,
  tool: 'a',
  args: {},
  wire: { provider: 'anthropic', api: 'anthropic-messages', type: 'tool_use', origin: 'natural' },
  executedBy: 'runner',
  response: 'r',
  result: { isError: false, parts: [{ type: 'text', text: `result ${id}` }] },
})

type Block = { readonly type: string; readonly cache_control?: unknown; readonly text?: string }
interface Body {
  readonly system?: string | readonly Block[]
  readonly tools?: readonly object[]
  readonly messages: readonly { readonly role: string; readonly content: string | Block[] }[]
}

function bodyOf(request: Partial<ModelRequest>, more: object = {}): Body {
  const whole = { instructions: 'Be brief.', items: [said('Hi')], tools, ...request }
  const part = messages.encode(whole.items, {})
  const input = { model: 'claude-opus-4-6', stream: true, request: whole, part, ...more }
  return messages.requestBody(input) as unknown as Body
}

/** Where the markers of a body are. */
function placesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'cache_control' ? [path] : placesOf(member, path === '' ? name : `${path}.${name}`),
  )
}

describe('cache markers', () => {
  it('stand after the tools, the system prompt and the only message', () => {
    const body = bodyOf({})
    expect(body.system).toEqual([{ type: 'text', text: 'Be brief.', cache_control }])
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] },
    ])
    expect(placesOf(body)).toEqual(['tools.1', 'system.0', 'messages.0.content.0'])
  })

  it('stand at the end of this request and at the end of the last one', () => {
    const many = Array.from({ length: 30 }, (_, at) => call(`c${at}`))
    const items = [said('Hi'), said('Yes?', 'assistant'), said('Look'), ...many]
    expect(placesOf(bodyOf({ items }))).toEqual([
      'tools.1',
      'system.0',
      'messages.2.content.0',
      'messages.4.content.29',
    ])
  })

  it.each<[string, object]>([
    ['an option', { cache: false }],
    ['a marker of the whole request', { params: { cache_control } }],
    [
      'a marker in the system prompt',
      { params: { system: [{ type: 'text', text: 'x', cache_control }] } },
    ],
    [
      'a marker on a hosted tool',
      { hostedTools: [{ type: 'web_search_20250305', name: 'web_search', cache_control }] },
    ],
  ])('are left out because of %s', (_, more) => {
    const { messages: list, system } = bodyOf({}, more)
    expect(placesOf(list)).toEqual([])
    expect(JSON.stringify(system)).not.toMatch(/brief[^}]*cache_control/)
  })

  const marked = (text: string, marker: JsonObject): HistoryItem => ({
    type: 'message',
    role: 'user',
    parts: [
      {
        type: 'text',
        text,
        providerData: { api: 'anthropic-messages', data: { cache_control: marker } },
      },
    ],
  })

  it('never exceed four together with those of an imported history', () => {
    const items = [1, 2, 3].flatMap((n) => [marked(`q${n}`, cache_control), said('a', 'assistant')])
    const body = bodyOf({ items: [...items, said('Now?')] })
    expect(placesOf(body)).toEqual([
      'messages.0.content.0',
      'messages.2.content.0',
      'messages.4.content.0',
      'messages.6.content.0',
    ])
    expect(messages.validate?.(body)).toEqual([])
  })

  it('are left out beside a marker with a lifetime, which may not follow a shorter one', () => {
    const items = [marked('q', { ...cache_control, ttl: '1h' }), said('a', 'assistant'), said('b')]
    expect(placesOf(bodyOf({ items }))).toEqual(['messages.0.content.0'])
  })

  it('never stand on a blank text, which the wire refuses', () => {
    const parts = ['Look', ' '].map((text) => ({ type: 'text', text }) as const)
    const items: HistoryItem[] = [{ type: 'message', role: 'user', parts }]
    const params = { system: [{ type: 'text', text: ' ' }] }
    const places = placesOf(bodyOf({ items }, { params }))
    expect(places).toEqual(['tools.1', 'system.0', 'messages.0.content.0'])
  })

  it('never stand on a tool that is not loaded yet', () => {
    const hostedTools = [{ type: 'custom', name: 'late', input_schema: {}, defer_loading: true }]
    expect(placesOf(bodyOf({}, { hostedTools }).tools)).toEqual(['1'])
  })
})
