import type Anthropic from '@anthropic-ai/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { ModelRequest } from '../../model/model.ts'
import { type HostedTool, type MessagesParams, requestBody } from './request.ts'
import type { MessagesPart } from './wire/wire.ts'

const part: MessagesPart = { messages: [{ role: 'user', content: 'Hi' }] }
const tool = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object', properties: {} } }
const settings = { model: 'claude-test-1', stream: true }
const bodyOf = (request: Partial<ModelRequest>, more: object = {}) =>
  requestBody({ ...settings, part, request: { items: [], ...request }, ...more })

describe('requestBody', () => {
  it('has the types of the official client', () => {
    expectTypeOf(requestBody).returns.toExtend<Anthropic.Beta.MessageCreateParams>()
    expectTypeOf<MessagesPart['messages']>().toExtend<
      Anthropic.Beta.MessageCreateParams['messages']
    >()
    expectTypeOf<MessagesPart['messages']>().not.toBeAny()
    // Whatever the stable half of the client takes, the options take too.
    expectTypeOf<Anthropic.ToolUnion>().toExtend<HostedTool>()
    expectTypeOf<Anthropic.MessageCreateParams['thinking']>().toExtend<MessagesParams['thinking']>()
    expectTypeOf<MessagesParams>().not.toHaveProperty('messages')
  })

  it('asks for a stream and for no more than it must', () => {
    expect(bodyOf({}) satisfies Anthropic.Beta.MessageCreateParams).toEqual({
      model: 'claude-test-1',
      max_tokens: 16_384,
      stream: true,
      messages: part.messages,
    })
  })

  it.each([
    ['auto' as const, { type: 'auto' }],
    ['none' as const, { type: 'none' }],
    ['required' as const, { type: 'any' }],
    [{ tool: 'pay' }, { type: 'tool', name: 'pay' }],
  ])('sends the choice %j', (toolChoice, expected) => {
    expect(bodyOf({ tools: [tool], toolChoice }).tool_choice).toEqual(expected)
  })

  it('declares tools that answer a toolset only by that', () => {
    const hostedTools: HostedTool[] = [{ type: 'computer_toolset_20260801' }]
    const tools = [tool, { ...tool, name: 'computer_screenshot' }]
    expect(bodyOf({ tools }, { hostedTools }).tools).toMatchObject([
      { name: 'pay' },
      { type: 'computer_toolset_20260801' },
    ])
  })

  it('sends no choice where there is nothing to choose from', () => {
    expect(bodyOf({ toolChoice: 'none' })).not.toHaveProperty('tool_choice')
  })

  it('joins instructions, the prompt of the history, and the user’s own', () => {
    const system = [{ type: 'text' as const, text: 'C' }]
    const body = requestBody({
      ...settings,
      part: { ...part, system: 'B' },
      request: { items: [], instructions: 'A' },
      params: { system },
    })
    expect(body.system).toEqual(['A', 'B', 'C'].map((text) => ({ type: 'text', text })))
    expect(bodyOf({}, { params: { system: 'C' } }).system).toBe('C')
    expect(bodyOf({ instructions: '' })).not.toHaveProperty('system')
  })

  it('keeps the effort that the user set beside the format asked for', () => {
    const output = { name: 'answer', schema: { type: 'object' } }
    const params = { output_config: { effort: 'low' as const } }
    expect(bodyOf({ output }, { params }).output_config).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema: { type: 'object' } },
    })
  })
})
