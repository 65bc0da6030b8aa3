import type { ConverseStreamCommandInput } from '@aws-sdk/client-bedrock-runtime'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../model/model.ts'
import { clientInput } from './client-input.ts'
import { requestBody } from './request.ts'
import type { ConversePart } from './wire/wire.ts'

const asked = { role: 'user', content: [{ text: 'Go.' }] } as const
const part: ConversePart = { messages: [{ ...asked, content: [...asked.content] }] }
const called: ConversePart = {
  messages: [
    ...part.messages,
    { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'pay', input: {} } }] },
    { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [] } }] },
  ],
}
const tools = [{ name: 'pay', description: '', inputSchema: { type: 'object' } }]
const body = (given: ConversePart, request: Partial<ModelRequest>, more: object = {}) =>
  requestBody({
    model: 'm',
    part: given,
    request: { items: [], ...request },
    stream: true,
    ...more,
  })

describe('requestBody', () => {
  it('has no tools and no choice unless there are some', () => {
    expect(body(part, { toolChoice: 'required' })).toEqual({
      modelId: 'm',
      messages: part.messages,
    })
  })

  it('declares a tool without an empty description', () => {
    const spec = { name: 'pay', inputSchema: { json: { type: 'object' } } }
    expect(body(part, { tools }).toolConfig).toEqual({ tools: [{ toolSpec: spec }] })
  })

  it.each([
    ['auto', undefined],
    ['required', { any: {} }],
    [{ tool: 'pay' }, { tool: { name: 'pay' } }],
  ] as const)('asks for the choice %j as %j', (toolChoice, choice) => {
    expect(body(part, { tools, toolChoice }).toolConfig?.['toolChoice']).toEqual(choice)
  })

  it('withholds the tools when none may be called, except where the history needs them', () => {
    expect(body(part, { tools, toolChoice: 'none' })).not.toHaveProperty('toolConfig')
    expect(body(called, { tools, toolChoice: 'none' }).toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'pay' } }],
    })
  })

  it('declares the tools of a history with calls even if the request has none', () => {
    expect(body(called, {}).toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'pay', description: expect.stringContaining('Do not call') } }],
    })
  })

  it('has the form that the client takes', () => {
    const input: ConverseStreamCommandInput = clientInput(body(called, { tools }))
    expect(input.modelId).toBe('m')
  })
})

describe('clientInput', () => {
  it('gives bytes where JSON has base64, and leaves arguments alone', () => {
    const content = [
      { image: { format: 'png', source: { bytes: 'AQID' } } },
      { toolUse: { toolUseId: 't', name: 'pay', input: { bytes: 'AQID' } } },
      { reasoningContent: { redactedContent: 'AQID' } },
    ]
    expect(clientInput(body({ messages: [{ role: 'user', content }] }, {})).messages).toEqual([
      {
        role: 'user',
        content: [
          { image: { format: 'png', source: { bytes: Uint8Array.of(1, 2, 3) } } },
          { toolUse: { toolUseId: 't', name: 'pay', input: { bytes: 'AQID' } } },
          { reasoningContent: { redactedContent: Uint8Array.of(1, 2, 3) } },
        ],
      },
    ])
  })

  it('wraps blocks that the client does not know', () => {
    const messages = [{ role: 'user' as const, content: [{ hologram: { a: 1 } }] }]
    expect(clientInput(body({ messages }, {})).messages?.[0]?.content).toEqual([
      { $unknown: ['hologram', { a: 1 }] },
    ])
  })
})
