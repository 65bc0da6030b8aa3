import { describe, expect, it } from 'vitest'
import type { EncodeOptions, Repair } from '../../../model/wire/encode-groups.ts'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import type { CallItem, ContentPart, HistoryItem } from '../../../records/history-item.ts'
import { decodePayload } from '../decode/decode.ts'
import { validateRequest } from '../validate/validate.ts'
import { encodeHistory } from './encode.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const decode = (payload: unknown) => decodePayload(payload, { mint }).items

function encode(items: readonly HistoryItem[], options: EncodeOptions = {}) {
  const repairs: Repair[] = []
  const part = encodeHistory(items, { ...options, onRepair: (repair) => repairs.push(repair) })
  expect(validateRequest(part)).toEqual([])
  return { ...part, repairs }
}

const said = (
  role: 'user' | 'assistant' | 'system',
  ...parts: readonly ContentPart[]
): HistoryItem => ({
  type: 'message',
  role,
  parts,
  ...(role === 'assistant' && { response: 'r0' }),
})
const text = (words: string): ContentPart => ({ type: 'text', text: words })
const call = (id: string, more: Partial<CallItem> = {}): CallItem => ({
  type: 'call',
  id,
  tool: 'pay',
  args: { sum: 1 },
  wire: { provider: 'openai', api: 'openai-chat', type: 'function', callId: id, origin: 'natural' },
  executedBy: 'runner',
  result: { isError: false, parts: [text('paid')] },
  response: 'r1',
  ...more,
})
const user = said('user', text('Go.'))

describe('encodeHistory', () => {
  it('fits ids and names of others to the charset and the length', () => {
    const { messages } = encode([
      user,
      call('call|fc.1'),
      call('x'.repeat(80), { tool: 'näme with spaces' }),
    ])
    const uses = messages[1]?.content.map((block) => block['toolUse']) as Record<string, string>[]
    expect(uses.map(({ toolUseId }) => toolUseId)).toEqual([
      expect.stringMatching(/^call_fc_1_[0-9a-f]{16}$/),
      expect.stringMatching(/^x{47}_[0-9a-f]{16}$/),
    ])
    expect(uses.map(({ name }) => name)).toEqual([
      'pay',
      expect.stringMatching(/^n_me_with_spaces_\w{8}$/),
    ])
  })

  it('begins with the user, and says so', () => {
    const { messages, repairs } = encode([said('assistant', text('Hello.'))])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(repairs).toMatchObject([{ kind: 'added' }])
  })

  it('lets roles alternate', () => {
    const { messages } = encode([
      user,
      said('user', text('Now.')),
      said('assistant', text('A.')),
      { ...said('assistant', text('B.')), response: 'r2' },
      call('c1', { response: 'r3' }),
      said('user', text('And?')),
    ])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(messages[2]?.content.map((block) => Object.keys(block)[0])).toEqual([
      'toolResult',
      'text',
    ])
  })

  it('leaves blank texts out, and messages that say nothing', () => {
    const { messages, repairs } = encode([
      user,
      said('user', text(' \n')),
      said('assistant', text(''), text('A.')),
    ])
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'Go.' }] },
      { role: 'assistant', content: [{ text: 'A.' }] },
    ])
    expect(repairs).toMatchObject([{ kind: 'left-out', item: 'message' }])
  })

  it('gives an error without words a word, and leaves other results empty', () => {
    const { messages } = encode([
      user,
      call('c1', { result: { isError: true, parts: [text(' ')] } }),
      call('c2', { result: { isError: false, parts: [] } }),
    ])
    expect(messages[2]?.content).toEqual([
      { toolResult: { toolUseId: 'c1', content: [{ text: 'The tool failed.' }], status: 'error' } },
      { toolResult: { toolUseId: 'c2', content: [] } },
    ])
  })

  it('answers a call without a result with an error', () => {
    const { result: _, ...open } = call('c1')
    const { messages, repairs } = encode([user, open])
    expect(messages[2]?.content).toMatchObject([
      { toolResult: { toolUseId: 'c1', status: 'error' } },
    ])
    expect(repairs).toMatchObject([{ kind: 'missing-result' }])
  })

  it('sends a document with a name that the wire takes, and with words beside it', () => {
    const pdf = (filename: string): ContentPart => ({
      type: 'media',
      kind: 'document',
      mimeType: 'application/pdf',
      filename,
      source: { type: 'base64', data: 'JVBERi0=' },
    })
    const { messages, repairs } = encode([
      said('user', pdf('Q3_report.v2.pdf'), pdf('Q3 report v2.pdf')),
    ])
    expect(messages[0]?.content).toMatchObject([
      { document: { format: 'pdf', name: 'Q3 report v2' } },
      { document: { name: 'Q3 report v2 (2)' } },
      { text: '(See the document.)' },
    ])
    expect(repairs).toMatchObject([{ kind: 'added' }])
  })

  it.each<[string, ContentPart]>([
    [
      'a picture behind a URL',
      { type: 'media', kind: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      'a format that it does not know',
      {
        type: 'media',
        kind: 'image',
        mimeType: 'image/tiff',
        source: { type: 'base64', data: 'AAAA' },
      },
    ],
    [
      'bytes that are no base64',
      {
        type: 'media',
        kind: 'image',
        mimeType: 'image/png',
        source: { type: 'base64', data: '*' },
      },
    ],
    [
      'a file of another provider',
      {
        type: 'media',
        kind: 'document',
        source: { type: 'file', id: 'file_1', api: 'openai-responses' },
      },
    ],
  ])('names %s in its place', (_, part) => {
    const { messages, repairs } = encode([said('user', part)])
    expect(messages[0]?.content).toEqual([{ text: expect.stringMatching(/^\[(image|document)/) }])
    expect(repairs).toMatchObject([{ kind: 'left-out', item: 'media' }])
  })

  it('sends what lies in S3 by its place', () => {
    const source = { type: 'url', url: 's3://bucket/a.png' } as const
    const { messages } = encode([
      said('user', { type: 'media', kind: 'image', mimeType: 'image/png', source }),
    ])
    expect(messages[0]?.content).toEqual([
      { image: { format: 'png', source: { s3Location: { uri: 's3://bucket/a.png' } } } },
    ])
  })

  it('moves calls behind the words of their response', () => {
    const { messages } = encode([
      user,
      call('c1'),
      { ...said('assistant', text('Paying.')), response: 'r1' },
    ])
    expect(messages[1]?.content.map((block) => Object.keys(block)[0])).toEqual(['text', 'toolUse'])
  })

  it('leaves reasoning out that nobody signed, and then all of its response', () => {
    const items = decode([
      { role: 'user', content: [{ text: 'Go.' }] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'a', signature: 's' } } },
          { reasoningContent: { reasoningText: { text: 'b' } } },
          { text: 'Done.' },
        ],
      },
    ])
    const { messages, repairs } = encode(items)
    expect(messages[1]?.content).toEqual([{ text: 'Done.' }])
    expect(repairs).toMatchObject([{ kind: 'left-out', item: 'thought' }])
  })

  it('gives reasoning to its own family only', () => {
    const payload = [
      { role: 'user', content: [{ text: 'Go.' }] },
      {
        role: 'assistant',
        content: [{ reasoningContent: { redactedContent: 'AAEC' } }, { text: 'Done.' }],
      },
    ]
    const { items } = decodePayload(payload, { mint, modelFamily: 'gpt' })
    expect(encodeHistory(items, { modelFamily: 'gpt' }).messages).toEqual(payload)
    expect(encodeHistory(items, { modelFamily: 'claude' }).messages[1]?.content).toEqual([
      { text: 'Done.' },
    ])
  })

  it('tells an unanswered call of the provider as text, unless it may still be answered', () => {
    const served = {
      toolUse: { toolUseId: 's1', name: 'search', input: {}, type: 'server_tool_use' },
    }
    const payload = [
      { role: 'user', content: [{ text: 'Go.' }] },
      { role: 'assistant', content: [served] },
    ]
    expect(encode(decode(payload)).messages).toEqual(payload)
    const { messages, repairs } = encode([...decode(payload), said('user', text('And?'))])
    expect(messages[1]?.content).toMatchObject([
      { text: expect.stringContaining('(not finished)') },
    ])
    expect(repairs).toMatchObject([{ kind: 'missing-result' }])
  })

  it('puts a system message behind the user message that it stands before', () => {
    const { messages } = encode([
      user,
      said('assistant', text('A.')),
      said('system', text('French.')),
      user,
    ])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'system'])
  })

  it('sends the opening of a history as the system prompt, with its cache points', () => {
    const system = [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }]
    const messages = [{ role: 'user', content: [{ text: 'Go.' }] }]
    expect(encode(decode({ system, messages }))).toEqual({ system, messages, repairs: [] })
  })

  it('gives a document that is text a name that the wire takes', () => {
    const document = { format: 'txt', name: 'notes.v2', source: { text: 'Cold.' } }
    const items = decode([{ role: 'user', content: [{ text: 'Read.' }, { document }] }])
    expect(encode(items).messages[0]?.content[1]).toEqual({
      document: { ...document, name: 'notes' },
    })
  })

  it('gives others words for changes of the tools', () => {
    const [item] = decode([
      { role: 'system', content: [{ toolRemoval: { tool: { name: 'shell' } } }] },
    ])
    expect(item).toMatchObject({
      role: 'system',
      parts: [{ text: 'From here on the tool `shell` is not available.' }],
    })
  })
})
