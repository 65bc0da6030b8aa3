import { describe, expect, it } from 'vitest'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import { decodePayload } from './decode.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const decode = (payload: unknown, more: object = {}) => decodePayload(payload, { mint, ...more })
const reply = (stopReason: string, ...content: readonly object[]) => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 2, outputTokens: 3, totalTokens: 5 },
})
const use = { toolUse: { toolUseId: 't1', name: 'pay', input: { sum: 1 } } }

describe('decodePayload', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tools'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'filter'],
    ['content_filtered', 'filter'],
    ['malformed_tool_use', 'error'],
    ['malformed_model_output', 'error'],
    ['refusal', 'refusal'],
    ['something_new', 'other'],
    ['constructor', 'other'],
  ])('reads the stop reason %s as %s', (stopReason, reason) => {
    const { finish } = decode(reply(stopReason, { text: 'Hm.' }))
    expect(finish).toMatchObject({ reason, rawReason: stopReason })
  })

  it.each(['max_tokens', 'malformed_tool_use', 'guardrail_intervened', 'something_new'])(
    'gives no call of a response that ended with %s',
    (stopReason) => {
      const { finish, items } = decode(reply(stopReason, { text: 'Hm.' }, use))
      expect(items.map(({ type }) => type)).toEqual(['message'])
      expect(finish?.unfinished).toEqual([{ tool: 'pay', callId: 't1', rawArgs: '{"sum":1}' }])
    },
  )

  it('counts what the cache took and gave as input', () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 4,
      cacheReadInputTokens: 100,
      cacheWriteInputTokens: 20,
    }
    expect(decode({ ...reply('end_turn', { text: 'a' }), usage }).finish?.usage).toEqual({
      inputTokens: 130,
      outputTokens: 4,
      cachedInputTokens: 100,
      cacheWriteTokens: 20,
    })
  })

  it('reads bytes as the client gives them and as JSON has them alike', () => {
    const bytes = Uint8Array.of(1, 2, 3)
    const message = (source: unknown, redactedContent: unknown) => [
      { role: 'user', content: [{ image: { format: 'png', source: { bytes: source } } }] },
      { role: 'assistant', content: [{ reasoningContent: { redactedContent } }, { text: 'a' }] },
    ]
    expect(decode(message(bytes, bytes))).toEqual(decode(message('AQID', 'AQID')))
  })

  it('reads a block that the client does not know like one that came as JSON', () => {
    const wrapped = { role: 'user', content: [{ $unknown: ['plan', { a: 1 }] }] }
    const plain = { role: 'user', content: [{ plan: { a: 1 } }] }
    expect(decode([wrapped])).toEqual(decode([plain]))
    expect(decode([plain]).items).toMatchObject([{ type: 'raw', value: { plan: { a: 1 } } }])
  })

  it('judges arguments by the text that was received', () => {
    const payload = reply('tool_use', use)
    const source = JSON.stringify(payload).replace('{"sum":1}', '{"sum":1,"sum":2}')
    expect(decode(payload, { source }).items).toMatchObject([
      { rawArgs: '{"sum":1,"sum":2}', fault: { rule: 'duplicate-key' } },
    ])
  })

  it('says that pages were read for an answer that only cites them', () => {
    const cited = (location: object) => ({
      citationsContent: { content: [{ text: 'It is.' }], citations: [{ location }] },
    })
    const web = decode(reply('end_turn', cited({ web: { url: 'https://example.com' } })))
    expect(web.finish?.grounded).toBe(true)
    const own = decode(reply('end_turn', cited({ documentPage: { documentIndex: 0 } })))
    expect(own.finish?.grounded).toBeUndefined()
  })

  it('does not settle a call of the provider with a result of the user', () => {
    const served = { toolUse: { ...use.toolUse, type: 'server_tool_use' } }
    const { items } = decode([
      { role: 'assistant', content: [served] },
      { role: 'user', content: [{ toolResult: { toolUseId: 't1', content: [{ text: 'x' }] } }] },
    ])
    expect(items).toMatchObject([
      { type: 'openCall', executedBy: 'provider' },
      { type: 'call', executedBy: 'runner', resultOnly: true },
    ])
  })

  it('throws the exception that a payload holds', () => {
    expect(() => decode({ throttlingException: { message: 'Slow down.' } })).toThrow('Slow down.')
  })

  it.each([undefined, null, 5, {}, { a: 1 }])('refuses %j, which it does not have', (payload) => {
    expect(() => decode(payload)).toThrow('nothing that `bedrock-converse` has')
  })
})
