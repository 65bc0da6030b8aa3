import { describe, expect, it } from 'vitest'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import { wire } from '../../../wire/index.ts'
import { generateContent } from '../protocol.ts'

const codec = wire('gemini', { secret: new Uint8Array(32) })
const text = (payload: unknown) =>
  codec.decode(payload).messages.map(({ role, parts }) => [role, ...parts.map((part) => part)])
const said = (role: string, ...texts: string[]) => [
  role,
  ...texts.map((each) => ({ type: 'text', text: each })),
]
const call = { functionCall: { name: 'pay', args: {} } }

describe('decode of generateContent', () => {
  it('keeps damaged data after code as it came', () => {
    const odd = { inlineData: '' }
    const parts = [{ executableCode: { code: 'plot()' } }, odd]
    const { items } = codec.decode({ contents: [{ role: 'model', parts }] })
    expect(JSON.stringify(codec.encode(items))).toContain(JSON.stringify(odd))
  })

  it.each([
    ['a text', 'Hi.'],
    ['a list of texts', [{ text: 'Hi.' }]],
    ['a part', { text: 'Hi.' }],
    ['a content', { parts: [{ text: 'Hi.' }] }],
    ['contents', [{ role: 'user', parts: [{ text: 'Hi.' }] }]],
    ['a request', { contents: 'Hi.' }],
    ['a request with contents', { contents: [{ role: 'user', parts: ['Hi.'] }] }],
  ])('reads %s', (_, payload) => {
    expect(text(payload)).toEqual([said('user', 'Hi.')])
  })

  it.each([
    ['over HTTP', { systemInstruction: { parts: [{ text: 'Be brief.' }] }, contents: [] }],
    ['of the client', { config: { systemInstruction: 'Be brief.' }, contents: [] }],
    ['as parts', { systemInstruction: ['Be brief.'], contents: [] }],
    ['in snake_case', { system_instruction: { parts: { text: 'Be brief.' } }, contents: [] }],
  ])('reads the system instruction %s', (_, payload) => {
    expect(text(payload)).toEqual([said('system', 'Be brief.')])
  })

  it('reads content without a role as the model’s when only the model makes such parts', () => {
    expect(codec.decode({ parts: [call] }).calls).toMatchObject([{ response: '#0' }])
  })

  it('joins what the model said in several parts', () => {
    const payload = { role: 'model', parts: [{ text: 'So ' }, { text: 'so.' }] }
    expect(text(payload)).toEqual([said('assistant', 'So so.')])
  })

  it('reads chunks in a list like a stream', () => {
    const chunks = [
      { candidates: [{ content: { parts: [call] } }] },
      { candidates: [{ finishReason: 'STOP' }] },
    ]
    expect(codec.decode(chunks)).toMatchObject({
      calls: [{ tool: 'pay' }],
      finish: { reason: 'tools' },
    })
  })

  it('gives no call of a response that does not say why it ended', () => {
    const { calls, finish } = codec.decode({ candidates: [{ content: { parts: [call] } }] })
    expect(calls).toEqual([])
    expect(finish).toMatchObject({ reason: 'other', unfinished: [{ tool: 'pay' }] })
  })

  it.each([[null], [7], [{}], [{ hello: 1 }]])('refuses %j', (payload) => {
    expect(() => codec.decode(payload)).toThrowError(
      expect.objectContaining({ code: 'E_UNKNOWN_PAYLOAD' }),
    )
  })

  it('throws the error in a body', () => {
    const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'slow down' } }
    expect(() => codec.decode(body)).toThrowError(
      expect.objectContaining({ code: 'E_PROVIDER_RATE_LIMITED' }),
    )
  })

  it.each([
    ['a part', { function_call: { name: 'pay', args: {} } }],
    ['a list of parts', [{ function_call: { name: 'pay', args: {} } }]],
    ['a content without a role', { parts: [{ function_call: { name: 'pay', args: {} } }] }],
    ['a null in the other spelling', { function_call: { name: 'pay' }, functionCall: null }],
    [
      'a response',
      {
        candidates: [
          { content: { parts: [{ function_call: { name: 'pay' } }] }, finish_reason: 'STOP' },
        ],
      },
    ],
  ])('reads %s in snake_case', (_, payload) => {
    expect(codec.decode(payload).calls).toMatchObject([{ tool: 'pay', response: '#0' }])
  })

  it('reads a block in snake_case', () => {
    const payload = { prompt_feedback: { block_reason: 'SAFETY' } }
    expect(codec.decode(payload).finish).toMatchObject({ reason: 'filter', rawReason: 'SAFETY' })
  })

  it('judges the arguments of a call in snake_case as they were sent', () => {
    const body =
      '{"candidates":[{"content":{"parts":[{"function_call":{"name":"pay","args":{"a":1,"a":2}}}]},"finish_reason":"STOP"}]}'
    const decoder = generateContent.decodeStream({
      mint: syntheticIds({ secret: new Uint8Array(32) }),
    })
    const [finish] = decoder.push(JSON.parse(body), body)
    expect(finish).toMatchObject({ items: [{ fault: { rule: 'duplicate-key' } }] })
  })

  it('reads damaged data after code without an error', () => {
    const parts = [{ executableCode: { code: 'plot()' } }, { inlineData: '' }]
    const { calls } = codec.decode([{ role: 'model', parts }])
    expect(calls).toMatchObject([{ tool: 'code_execution' }])
  })

  it('pairs by id, then by name, then by position', () => {
    const named = (name: string, id?: string) => ({
      functionCall: { name, args: {}, ...(id !== undefined && { id }) },
    })
    const answer = (name: string | undefined, output: string, id?: string) => ({
      functionResponse: { name, response: { output }, ...(id !== undefined && { id }) },
    })
    const { calls } = codec.decode([
      { role: 'model', parts: [named('a', 'x'), named('b'), named('b'), named('c')] },
      {
        role: 'user',
        parts: [answer('b', '2'), answer('b', '3'), answer(undefined, '4'), answer('a', '1', 'x')],
      },
    ])
    const texts = calls.map((each) => (each.type === 'call' ? each.result?.parts : undefined))
    expect(texts).toEqual(['1', '2', '3', '4'].map((each) => [{ type: 'text', text: each }]))
  })

  it('reads neighbouring turns of the model as one step when it calls in them', () => {
    const answer = { functionResponse: { name: 'pay', response: {} } }
    const { calls, items } = codec.decode([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [{ text: 'So.' }] },
      { role: 'model', parts: [call] },
      { role: 'model', parts: [call] },
      { role: 'user', parts: [answer, answer] },
    ])
    expect(calls).toMatchObject([
      { response: '#0', result: { isError: false } },
      { response: '#0', result: { isError: false } },
    ])
    expect(codec.encode(items)).toMatchObject({
      contents: [
        { role: 'user' },
        { role: 'model', parts: [{ text: 'So.' }, call, call] },
        { role: 'user', parts: [answer, answer] },
      ],
    })
  })

  it('does not let a damaged picture behind code break it', () => {
    const parts = [{ executableCode: { code: '1' } }, { inlineData: '' }]
    expect(codec.decode({ role: 'model', parts }).calls).toMatchObject([{ type: 'openCall' }])
  })

  it('does not let deep results break it', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown
    const parts = [{ toolCall: { id: 'x' } }, { toolResponse: { id: 'x', response: { deep } } }]
    expect(codec.decode({ role: 'model', parts }).calls).toMatchObject([{ id: 'x', type: 'call' }])
  })
})
