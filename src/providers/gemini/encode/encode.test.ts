import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../core/json/json.ts'
import type { EncodeOptions, Repair } from '../../../model/wire/encode-groups.ts'
import { foreignCallText } from '../../../model/wire/foreign-text.ts'
import type { CallItem, ContentPart, HistoryItem } from '../../../records/history-item.ts'
import { wire } from '../../../wire/index.ts'
import { validateRequest } from '../validate/validate.ts'
import { encodeHistory } from './encode.ts'

const SKIP = 'skip_thought_signature_validator'
const codec = wire('gemini', { secret: new Uint8Array(32) })

const text = (value: string): ContentPart => ({ type: 'text', text: value })
const user: HistoryItem = { type: 'message', role: 'user', parts: [text('Hi.')] }
const said: HistoryItem = {
  type: 'message',
  role: 'assistant',
  parts: [text('Hello.')],
  response: 'a',
}
const foreign = (more: Partial<CallItem> = {}): CallItem => ({
  type: 'call',
  id: 'call_1',
  tool: 'pay',
  args: { sum: 1 },
  wire: {
    provider: 'openai',
    api: 'openai-responses',
    type: 'function_call',
    callId: 'call_1',
    origin: 'natural',
  },
  executedBy: 'runner',
  response: 'r',
  result: { isError: false, parts: [text('paid')] },
  ...more,
})
const own = (id: string | undefined, more: Partial<CallItem> = {}): CallItem =>
  foreign({
    id: id ?? 'bob_0123456789012345678901',
    wire: {
      provider: 'google',
      api: 'gemini',
      type: 'functionCall',
      ...(id !== undefined && { callId: id }),
      origin: id === undefined ? 'synthetic' : 'natural',
    },
    ...more,
  })

function encode(items: readonly HistoryItem[], options: EncodeOptions = {}) {
  const repairs: Repair[] = []
  const part = encodeHistory(items, { ...options, onRepair: (repair) => void repairs.push(repair) })
  expect(validateRequest(part)).toEqual([])
  return { ...part, repairs }
}

const callParts = (items: readonly HistoryItem[], options?: EncodeOptions) =>
  encode(items, options).contents.flatMap(({ parts = [] }) =>
    parts.filter((part) => part.functionCall !== undefined),
  )

describe('encode to generateContent', () => {
  it('puts the answers of a step into one turn that holds nothing else', () => {
    const { contents } = encode([user, foreign(), foreign({ id: 'call_2', tool: 'read' }), user])
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi.' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'pay', args: { sum: 1 } }, thoughtSignature: SKIP },
          { functionCall: { name: 'read', args: { sum: 1 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'pay', response: { output: 'paid' } } },
          { functionResponse: { name: 'read', response: { output: 'paid' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Hi.' }] },
    ])
  })

  it('sends an id only when this provider issued it', () => {
    const calls = [own('k3v9x1aa'), own(undefined, { response: 's' }), foreign({ response: 't' })]
    const [first, ...others] = callParts([user, ...calls])
    expect(first?.functionCall?.id).toBe('k3v9x1aa')
    for (const part of others) expect(part.functionCall).not.toHaveProperty('id')
  })

  it('sends an id that would repeat only once', () => {
    const { contents } = encode([user, own('x'), own('x', { id: 'x~2', response: 's' })])
    const answers = contents.flatMap(({ parts = [] }) =>
      parts.flatMap((part) => part.functionResponse ?? []),
    )
    expect(answers.map(({ id }) => id)).toEqual(['x', undefined])
  })

  it.each([
    ['gemini-3.1-pro', SKIP],
    ['gemini-flash-latest', SKIP],
    ['gemini-2.5-flash', undefined],
    ['gemma-4', undefined],
    [undefined, SKIP],
  ])('signs a foreign step for %s with %s', (modelFamily, signature) => {
    const [part] = callParts([user, foreign()], modelFamily === undefined ? {} : { modelFamily })
    expect(part?.thoughtSignature).toBe(signature)
  })

  it('leaves its own unsigned calls unsigned, unless the model refuses that', () => {
    const { items } = codec.decode([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
    ])
    expect(callParts(items)[0]).not.toHaveProperty('thoughtSignature')
    expect(callParts(items, { modelFamily: 'gemini-3-pro' })[0]?.thoughtSignature).toBe(SKIP)
  })

  it.each([
    [{}, 'x'],
    [{ endpoint: 'developer', modelFamily: 'gemini-3-pro' }, 'x'],
    [{ endpoint: 'developer', modelFamily: 'gemini-3-flash' }, 'x'],
    [{ endpoint: 'vertex', modelFamily: 'gemini-3-pro' }, undefined],
    [{ endpoint: 'developer', modelFamily: 'gemini-2.5-pro' }, undefined],
  ])('sends an id that it issued to %j as %s', (options, id) => {
    const key = { endpoint: 'developer', modelFamily: 'gemini-3-pro' }
    const providerData = { api: 'gemini', ...key, data: { part: {} } }
    const { contents } = encode([user, own('x', { providerData })], options)
    const [asked, answered] = contents.slice(1).map(({ parts }) => parts?.[0])
    expect(asked?.functionCall?.id).toBe(id)
    expect(answered?.functionResponse?.id).toBe(id)
  })

  it('gives a signature back under its own key only', () => {
    const providerData = {
      api: 'gemini',
      endpoint: 'vertex',
      modelFamily: 'gemini-3-pro',
      data: { part: { thoughtSignature: 'c2ln' } },
    }
    const signature = (options: EncodeOptions) =>
      callParts([user, own('x', { providerData })], options)[0]?.thoughtSignature
    expect(signature({ endpoint: 'vertex', modelFamily: 'gemini-3-pro' })).toBe('c2ln')
    expect(signature({ endpoint: 'developer', modelFamily: 'gemini-3-pro' })).toBe(SKIP)
    expect(signature({ endpoint: 'vertex', modelFamily: 'gemini-3-flash' })).toBe(SKIP)
  })

  it('joins a step to what the model said right before it', () => {
    const { contents } = encode([user, said, foreign()])
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(contents[1]?.parts).toMatchObject([{ text: 'Hello.' }, { thoughtSignature: SKIP }])
  })

  it.each([
    ['a history that begins with a call', [foreign(), said], ['user', 'model', 'user', 'model']],
    ['an empty history', [], ['user']],
  ])('adds a turn to %s and says so', (_, items, roles) => {
    const { contents, repairs } = encode(items)
    expect(contents.map(({ role }) => role)).toEqual(roles)
    expect(contents[0]?.parts).toEqual([{ text: '(No message.)' }])
    expect(repairs.map(({ kind }) => kind)).toEqual(['added'])
  })

  it('sends an empty message as it is, except to Vertex AI', () => {
    const empty: HistoryItem = { type: 'message', role: 'user', parts: [text('')] }
    const [first] = encode([empty, foreign()]).contents
    expect(first).toEqual({ role: 'user', parts: [{ text: '' }] })
    const { contents, repairs } = encode([empty, foreign()], { endpoint: 'vertex' })
    expect(contents[0]?.parts).toEqual([{ text: '(No message.)' }])
    expect(repairs.map(({ kind }) => kind)).toEqual(['left-out', 'added'])
  })

  it('repairs a missing and a stray result and reports both', () => {
    const { result: _, ...missing } = foreign()
    const { contents, repairs } = encode([user, missing, own('y', { resultOnly: true, args: {} })])
    expect(repairs.map(({ kind }) => kind)).toEqual(['missing-result', 'stray-result'])
    expect(contents[2]?.parts).toMatchObject([
      { functionResponse: { response: { error: 'No result was recorded for this call.' } } },
    ])
    expect(contents[3]?.parts).toMatchObject([{ functionCall: { id: 'y', name: 'pay', args: {} } }])
  })

  it('tells an error by its key', () => {
    const { contents } = encode([user, foreign({ result: { isError: true, parts: [text('no')] } })])
    expect(contents[2]?.parts).toMatchObject([{ functionResponse: { response: { error: 'no' } } }])
  })

  it('names functions as the wire wants them, in call and result alike', () => {
    const { contents } = encode([user, foreign({ tool: '3 läufe' })])
    const name = contents[1]?.parts?.[0]?.functionCall?.name
    expect(name).toMatch(/^_[\w.:-]+$/)
    expect(contents[2]?.parts?.[0]?.functionResponse?.name).toBe(name)
  })

  it('tells system messages at the beginning as instruction and later ones in their place', () => {
    const system: HistoryItem = { type: 'message', role: 'system', parts: [text('Be brief.')] }
    const { systemInstruction, contents } = encode([system, user, system])
    expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
    expect(contents.map(({ parts }) => parts)).toEqual([[{ text: 'Hi.' }], [{ text: 'Be brief.' }]])
  })

  it('tells calls that another vendor ran as text of the model', () => {
    const searched = foreign({ tool: 'web_search', executedBy: 'provider', args: { q: 'x' } })
    const { contents } = encode([user, searched, user])
    expect(contents[1]).toEqual({
      role: 'model',
      parts: [{ text: foreignCallText(searched) }],
    })
  })

  it('leaves out thoughts and parts of others', () => {
    const { contents, repairs } = encode([
      user,
      { type: 'thought', text: 'hm', response: 'a' },
      { type: 'raw', api: 'openai-responses', value: { type: 'x' }, response: 'a' },
    ])
    expect(contents).toHaveLength(1)
    expect(repairs.map(({ item }) => item)).toEqual(['thought', 'raw'])
  })

  it('leaves out results of server tools whose call it has to tell as text', () => {
    const { items } = codec.decode([
      { role: 'user', parts: [{ text: 'x' }] },
      {
        role: 'model',
        parts: [
          { toolCall: { id: 'a', toolType: 'T', args: {} } },
          { toolCall: { id: 'b', toolType: 'T', args: {} } },
          { toolResponse: { id: 'a', toolType: 'T', response: { n: 1 } } },
        ],
      },
    ])
    const elsewhere = items.map((item) =>
      item.type === 'raw' || item.providerData === undefined
        ? item
        : { ...item, providerData: { ...item.providerData, modelFamily: 'gemini-3-pro' } },
    )
    const { contents } = encode(elsewhere, { modelFamily: 'gemini-4-pro' })
    expect(JSON.stringify(contents)).not.toContain('toolResponse')
    expect(contents[1]?.parts).toMatchObject([
      { text: expect.stringMatching(/\n\{\}\n[^]*\n\{"n":1\}\n/) as string },
      { text: expect.stringMatching(/not finished/) as string },
    ])
  })

  it('is valid whatever it is given', () => {
    const part = fc.constantFrom<ContentPart>(
      text('x'),
      text(''),
      { type: 'media', kind: 'image', source: { type: 'base64', data: 'AA==' } },
      { type: 'media', kind: 'video', source: { type: 'url', url: 'https://example.org/v' } },
      { type: 'media', kind: 'document', source: { type: 'file', id: 'f', api: 'elsewhere' } },
    )
    const parts = fc.array(part, { maxLength: 3 })
    const response = fc.constantFrom('a', 'b', undefined)
    const id = fc.constantFrom('x', 'y', undefined)
    const flag = fc.boolean()
    const call = fc
      .record({
        id,
        response,
        parts,
        isError: flag,
        isOwn: flag,
        isDone: flag,
        isStray: flag,
        served: flag,
      })
      .map(({ id: callId, response: from, isStray, isDone, served, ...more }): HistoryItem => {
        const base = more.isOwn ? own(callId) : foreign()
        const { result: _, response: __, ...bare } = base
        const { isError } = more
        return {
          ...bare,
          executedBy: served ? 'provider' : 'runner',
          ...(from !== undefined && { response: from }),
          ...((isDone || isStray) && { result: { isError, parts: more.parts } }),
          ...(isStray && { resultOnly: true as const }),
        }
      })
    const message = fc
      .record({ role: fc.constantFrom('user', 'assistant', 'system'), parts, response })
      .map(
        ({ response: from, ...rest }): HistoryItem => ({
          type: 'message',
          ...rest,
          ...(from !== undefined && rest.role === 'assistant' && { response: from }),
        }),
      )
    fc.assert(
      fc.property(fc.array(fc.oneof(call, message), { maxLength: 12 }), (items) => {
        encode(items)
        encode(items, { modelFamily: 'gemini-2.5-pro' })
      }),
    )
  })
})

describe('media in a result', () => {
  const result = (...parts: ContentPart[]) => foreign({ result: { isError: false, parts } })
  const image: ContentPart = {
    type: 'media',
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    source: { type: 'base64', data: 'AA==' },
  }

  it('go inside of the answer', () => {
    const { contents } = encode([user, result(text('chart'), image)])
    expect(contents[2]?.parts).toEqual([
      {
        functionResponse: {
          name: 'pay',
          response: { output: 'chart' },
          parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==', displayName: 'a.png' } }],
        },
      },
    ])
  })

  it.each([
    ['for older models', image, { modelFamily: 'gemini-2.5-flash' }, 'inlineData'],
    ['that are audio', { ...image, kind: 'audio', mimeType: 'audio/mp3' }, {}, 'inlineData'],
    [
      'that have an address',
      { ...image, source: { type: 'url', url: 'https://x.org/a' } },
      {},
      'fileData',
    ],
    ['of another provider', { ...image, source: { type: 'file', id: 'f', api: 'x' } }, {}, 'text'],
  ])('%s go into a turn of their own', (_, part, options, kind) => {
    const { contents } = encode([user, result(part as ContentPart)], options)
    expect(contents[2]?.parts).toEqual([
      { functionResponse: { name: 'pay', response: { output: expect.stringMatching(/a\.png/) } } },
    ])
    expect(contents[3]?.parts?.[0]).toHaveProperty(kind)
  })
})

describe('a server result', () => {
  it('is sent only after its call', () => {
    const part = (value: JsonObject): HistoryItem => ({
      type: 'raw',
      api: 'gemini',
      value,
      role: 'assistant',
      response: 'r',
    })
    const answer = { toolResponse: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', response: {} } }
    const asked = { toolCall: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', args: {} } }
    const { contents } = encode([user, part(answer), part(asked), part(answer)])
    expect(contents[1]).toEqual({ role: 'model', parts: [asked, answer] })
  })
})
