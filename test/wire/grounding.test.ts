import { describe, expect, it } from 'vitest'
import { decodeStream as geminiStream } from '../../src/providers/gemini/decode/decode-stream.ts'
import { decodeResponse } from '../../src/providers/openai/chat/decode/decode-response.ts'
import { decodeStream as chatStream } from '../../src/providers/openai/chat/decode/decode-stream.ts'

const context = { endpoint: 'default', modelFamily: 'm', mint: () => 'minted' } as never

const gemini = (beside: object) => {
  const parts = [{ functionCall: { name: 'pay', args: {} } }]
  const decoder = geminiStream(context)
  const events = decoder.push({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...beside }],
  })
  return events.find(({ type }) => type === 'finish')
}

const call = { id: 'c', type: 'function', function: { name: 'pay', arguments: '{}' } }
const annotations = [
  { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'a' } },
]

describe('a response that rests on pages which no item holds', () => {
  it.each([
    ['groundingMetadata', { webSearchQueries: ['x'] }],
    ['grounding_metadata', { grounding_chunks: [{}] }],
    ['urlContextMetadata', { urlMetadata: [{ retrievedUrl: 'https://a.example' }] }],
  ])('is marked by Gemini’s `%s`', (name, value) => {
    expect(gemini({ [name]: value })).toMatchObject({ grounded: true })
    expect(gemini({ [name]: {} })).not.toHaveProperty('grounded')
  })

  it('is marked by the annotations of a whole chat response', () => {
    const message = { role: 'assistant', content: 'so', tool_calls: [call], annotations }
    const response = { id: 'r', choices: [{ message, finish_reason: 'tool_calls' }] }
    expect(decodeResponse(response, context)).toMatchObject({ grounded: true })
    const plain = { ...message, annotations: [] }
    const choices = [{ message: plain, finish_reason: 'tool_calls' }]
    expect(decodeResponse({ id: 'r', choices }, context)).not.toHaveProperty('grounded')
  })

  it('is marked by the annotations of a streamed chat response', () => {
    const decoder = chatStream(context)
    decoder.push({ choices: [{ index: 0, delta: { content: 'so', annotations } }] })
    decoder.push({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] })
    decoder.push({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
    expect(decoder.end()).toMatchObject([{ type: 'finish', grounded: true }])
  })

  it('is marked by the citations that some servers send beside the choices', () => {
    const message = { role: 'assistant', content: 'so' }
    const choices = [{ message, finish_reason: 'stop' }]
    const citations = ['https://a.example']
    expect(decodeResponse({ id: 'r', choices, citations }, context)).toMatchObject({
      grounded: true,
    })
    const decoder = chatStream(context)
    decoder.push({ citations, choices: [{ index: 0, delta: { content: 'so' } }] })
    decoder.push({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    expect(decoder.end()).toMatchObject([{ type: 'finish', grounded: true }])
  })
})
