import { describe, expect, it } from 'vitest'
import type { HistoryItem, MessageItem } from '../../records/history-item.ts'
import { converse } from './protocol.ts'

const point = { cachePoint: { type: 'default' } }
const tools = [{ name: 'a', description: '', inputSchema: { type: 'object' } }]
const CLAUDE = 'us.anthropic.claude-opus-4-6-v1:0'
const said = (text: string, role: MessageItem['role'] = 'user'): HistoryItem => ({
  type: 'message',
  role,
  parts: [{ type: 'text', text }],
})

function bodyOf(items: readonly HistoryItem[], more: object = {}) {
  const request = { instructions: 'Be brief.', items, tools }
  const part = converse.encode(items, {})
  return converse.requestBody({ model: CLAUDE, stream: true, request, part, ...more })
}
const pointsIn = (body: object) => JSON.stringify(body).match(/"cachePoint"/g)?.length ?? 0

describe('cache points', () => {
  it('stand after the tools, the system prompt and the last two user messages', () => {
    const items = ['a', 'b', 'c'].flatMap((text) => [said(text), said('so', 'assistant')])
    const body = bodyOf(items.slice(0, -1))
    expect(body.system).toEqual([{ text: 'Be brief.' }, point])
    expect(body.toolConfig?.['tools']).toEqual([{ toolSpec: expect.anything() }, point])
    expect(body.messages.map(({ content }) => content.length)).toEqual([1, 1, 2, 1, 2])
    expect(converse.validate?.(body)).toEqual([])
  })

  it.each([
    [CLAUDE, {}, 3],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', {}, 3],
    ['anthropic.claude-3-5-haiku-20241022-v1:0', {}, 3],
    ['anthropic.claude-3-haiku-20240307-v1:0', {}, 0],
    ['anthropic.claude-3-5-sonnet-20240620-v1:0', {}, 0],
    ['anthropic.claude-v2:1', {}, 0],
    ['amazon.nova-pro-v1:0', {}, 0],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/x', {}, 0],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/x', { cache: true }, 3],
    [CLAUDE, { cache: false }, 0],
    [CLAUDE, { params: { system: [{ text: 'x' }, point] } }, 1],
  ])('for %s with %j are %i', (model, more, count) => {
    expect(pointsIn(bodyOf([said('Hi')], { model, ...more }))).toBe(count)
  })

  it('never exceed four together with those of an imported history', () => {
    const data = { api: 'bedrock-converse', data: { cachePoint: { type: 'default' } } }
    const marked: HistoryItem = {
      type: 'message',
      role: 'user',
      parts: [{ type: 'text', text: 'q', providerData: data }],
    }
    const items = [marked, said('a', 'assistant'), marked, said('b', 'assistant'), said('c')]
    expect(pointsIn(bodyOf(items))).toBe(4)
  })
})
