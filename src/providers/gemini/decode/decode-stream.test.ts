import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { Finish, ModelEvent } from '../../../model/events/model-event.ts'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import { wire } from '../../../wire/index.ts'
import { generateContent } from '../protocol.ts'

const codec = wire('gemini', { secret: new Uint8Array(32) })
const mint = syntheticIds({ secret: new Uint8Array(32) })

const chunk = (parts: JsonValue[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
})
const call = (functionCall: JsonObject, more: JsonObject = {}): JsonObject =>
  chunk([{ functionCall, ...more }])
const end = (finishReason = 'STOP') => chunk([{ text: '' }], { finishReason })
const pay = { name: 'pay', args: { sum: 1 } }

const idsOf = (...chunks: JsonObject[]) => codec.decodeStream(chunks).calls.map(({ id }) => id)

/** From the text of chunks, as they come over the wire. */
function readText(...texts: readonly string[]): readonly ModelEvent[] {
  const decoder = generateContent.decodeStream({ mint })
  return texts.flatMap((text) => decoder.push(JSON.parse(text), text))
}

function finishOf(events: readonly ModelEvent[]): Finish {
  const finish = events.find((event) => event.type === 'finish')
  if (finish === undefined) throw new Error('the finish is missing')
  return finish
}

describe('decodeStream of generateContent', () => {
  it('offers the token of a response that stopped at the limit of one request, and continues it', () => {
    const usage = (tokens: number) => ({
      usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 1 },
    })
    const limit = { finishReason: 'CONTINUATION', continuationToken: 'dA==' }
    const decoder = generateContent.decodeStream({ mint })
    decoder.push({ ...chunk([{ text: 'Rise and ' }], limit), ...usage(3) })
    expect(decoder.continuation).toBe('dA==')
    decoder.push({ ...chunk([{ text: 'fall.' }]), ...usage(4) })
    expect(decoder.continuation).toBeUndefined()
    expect(decoder.push(end())).toMatchObject([
      {
        reason: 'stop',
        usage: { inputTokens: 7, outputTokens: 2 },
        items: [{ parts: [{ text: 'Rise and fall.' }] }],
      },
    ])
  })

  it('gives a pause for such a response that nobody continued', () => {
    const limit = { finish_reason: 'CONTINUATION', continuation_token: 'dA==' }
    const { finish } = codec.decodeStream([chunk([{ text: 'Rise' }], limit)])
    expect(finish).toMatchObject({ reason: 'pause', rawReason: 'CONTINUATION' })
    expect(codec.decode(chunk([{ text: 'Rise' }], limit)).finish).toEqual(finish)
  })

  it('reads chunks in snake_case, and in both spellings mixed', () => {
    const piece = (function_call: JsonObject) => chunk([{ function_call }])
    const path = { json_path: '$.path', string_value: 'a' }
    const finish = finishOf(
      readText(
        ...[
          { response_id: 'r1', ...chunk([{ text: 'So.' }]) },
          chunk([
            { function_call: { name: 'pay', args: { due_date: 'now' } }, thought_signature: 's' },
          ]),
          piece({ name: 'read', will_continue: true }),
          piece({ partialArgs: [path], will_continue: true }),
          { ...piece({}), usage_metadata: { prompt_token_count: 3, candidates_token_count: 9 } },
          { candidates: [{ finish_reason: 'STOP' }] },
        ].map((each) => JSON.stringify(each)),
      ),
    )
    expect(finish).toMatchObject({
      reason: 'tools',
      responseId: 'r1',
      usage: { inputTokens: 3, outputTokens: 9 },
      items: [
        { type: 'message' },
        {
          tool: 'pay',
          args: { due_date: 'now' },
          providerData: { data: { part: { thoughtSignature: 's' } } },
        },
        { tool: 'read', args: { path: 'a' } },
      ],
    })
  })

  it.each([[undefined], [null], ['']])('mints an id for a call whose id is %o', (id) => {
    const [found] = codec.decodeStream([
      call({ ...pay, ...(id !== undefined && { id }) }),
      end(),
    ]).calls
    expect(found).toMatchObject({
      id: expect.stringMatching(/^bob_/),
      wire: { origin: 'synthetic' },
    })
    expect(found?.wire).not.toHaveProperty('callId')
  })

  it('keeps two equal calls without ids apart', () => {
    expect(new Set(idsOf(call(pay), call(pay), end())).size).toBe(2)
  })

  it('keeps two calls under one id apart', () => {
    const same = { ...pay, id: 'x' }
    expect(idsOf(call(same), call(same), end())).toEqual(['x', 'x~2'])
  })

  it.each([
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'filter'],
    ['RECITATION', 'filter'],
    ['PROHIBITED_CONTENT', 'filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'error'],
    ['TOO_MANY_TOOL_CALLS', 'error'],
    ['OTHER', 'other'],
    ['LANGUAGE', 'other'],
    ['FINISH_REASON_UNSPECIFIED', 'other'],
    ['A_WORD_OF_TOMORROW', 'other'],
    ['constructor', 'other'],
  ])('gives no call when the response ends with %s', (word, reason) => {
    const { calls, finish } = codec.decodeStream([call({ ...pay, id: 'x' }), end(word)])
    expect(calls).toEqual([])
    expect(finish).toMatchObject({
      reason,
      rawReason: word,
      unfinished: [{ tool: 'pay', callId: 'x', rawArgs: '{"sum":1}' }],
    })
  })

  it('reads STOP as `tools` with calls and as `stop` without', () => {
    expect(codec.decodeStream([call(pay), end()]).finish?.reason).toBe('tools')
    expect(codec.decodeStream([chunk([{ text: 'no' }]), end()]).finish?.reason).toBe('stop')
  })

  it('gives no call of a stream that was cut, and what was said', () => {
    const { calls, messages, finish } = codec.decodeStream([chunk([{ text: 'I pay.' }]), call(pay)])
    expect(calls).toEqual([])
    expect(finish).toBeUndefined()
    expect(messages).toMatchObject([{ parts: [{ text: 'I pay.' }] }])
  })

  it('refuses to end before a finish reason', () => {
    const decoder = generateContent.decodeStream({ mint })
    decoder.push(call(pay))
    expect(() => decoder.end()).toThrowError(expect.objectContaining({ code: 'E_STREAM_BROKEN' }))
  })

  it('gives nothing more after the finish', () => {
    const decoder = generateContent.decodeStream({ mint })
    expect(decoder.push(end())).toHaveLength(1)
    expect(decoder.push(call(pay))).toEqual([])
    expect(decoder.end()).toEqual([])
    expect(decoder.partial()).toEqual([])
  })

  it('throws the provider’s error after status 200, even after a call', () => {
    const error = { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }
    expect(() => codec.decodeStream([call(pay), error])).toThrowError(
      expect.objectContaining({ code: 'E_PROVIDER_UNAVAILABLE' }),
    )
  })

  it.each([['text'], [null], [[]]])('refuses %j as a chunk', (value) => {
    const decoder = generateContent.decodeStream({ mint })
    expect(() => decoder.push(value)).toThrowError(
      expect.objectContaining({ code: 'E_STREAM_BROKEN' }),
    )
  })

  it('ends with a filter when the prompt is blocked', () => {
    const { finish } = codec.decodeStream([{ promptFeedback: { blockReason: 'JAILBREAK' } }])
    expect(finish).toMatchObject({ reason: 'filter', rawReason: 'JAILBREAK', items: [] })
  })

  it('takes only the first candidate', () => {
    const other = { index: 1, content: { parts: [{ functionCall: pay }] }, finishReason: 'STOP' }
    const first = { index: 0, content: { parts: [{ text: 'No.' }] } }
    const stop = { candidates: [{ index: 0, finishReason: 'STOP' }] }
    const { items } = codec.decodeStream([{ candidates: [other, first] }, stop])
    expect(items).toMatchObject([{ type: 'message', parts: [{ text: 'No.' }] }])
  })

  it('counts thoughts as output and what tools brought in as input', () => {
    const usageMetadata = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 4,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 5,
    }
    const { finish } = codec.decodeStream([{ ...end(), usageMetadata, responseId: 'r' }])
    expect(finish).toMatchObject({
      responseId: 'r',
      usage: { inputTokens: 14, outputTokens: 8, cachedInputTokens: 2, reasoningTokens: 5 },
    })
  })
})

describe('the arguments of a call', () => {
  const text = (args: string) =>
    `{"candidates": [ {"content":{"parts":[{"text":"}"},{"functionCall" : {"name":"pay","args" : ${args} } }]},"finishReason":"STOP"}]}`
  const argsOf = (args: string) => finishOf(readText(text(args))).items.at(-1)

  it.each([
    ['duplicate-key', '{"sum":1,"sum":2}'],
    ['unsafe-integer', '{"sum":9007199254740993}'],
    ['lone-surrogate', '{"sum":"\\ud800"}'],
    ['too-deep', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['too-large', `{"a":"${'x'.repeat(5 * 1024 * 1024)}"}`],
    ['not-an-object', '"[1]"'],
    ['not-json', '"{oops"'],
  ])('are refused as %s', (rule, args) => {
    expect(argsOf(args)).toMatchObject({ tool: 'pay', fault: { rule }, args: { $unparsed: {} } })
  })

  it('are refused from parsed values too, as far as parsing tells', () => {
    const deep = JSON.parse(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`) as JsonObject
    for (const [rule, args] of [
      ['too-deep', deep],
      ['unsafe-integer', { sum: 2 ** 53 }],
      ['too-large', { a: 'x'.repeat(5 * 1024 * 1024) }],
    ] as const) {
      const { calls } = codec.decodeStream([call({ name: 'pay', args }), end()])
      expect(calls).toMatchObject([{ fault: { rule } }])
    }
  })

  it('keep the text of escapes and brackets in strings', () => {
    expect(argsOf('{"a":"]}\\"{[","b":[1, {"c":null}]}')).toMatchObject({
      args: { a: ']}"{[', b: [1, { c: null }] },
    })
  })
})

describe('arguments in pieces', () => {
  const begin = (more: JsonObject = {}) => call({ name: 'pay', willContinue: true, ...more })
  const piece = (jsonPath: string, value: JsonObject) => ({ jsonPath, ...value })
  const next = (...partialArgs: JsonObject[]) => call({ partialArgs, willContinue: true })
  const close = call({})

  it('are shown as the text that they make', () => {
    const decoder = generateContent.decodeStream({ mint })
    const text = piece('$.to', { stringValue: 'An', willContinue: true })
    const events = [begin(), next(text), next(piece('$.to', { stringValue: 'na' })), close, end()]
    const told = events.flatMap((event) => decoder.push(event))
    const deltas = told.flatMap((event) => (event.type === 'toolInput' ? [event.delta] : []))
    expect(deltas.join('')).toBe('{"to":"Anna"}')
    expect(finishOf(told).items).toMatchObject([{ tool: 'pay', args: { to: 'Anna' } }])
  })

  it.each([
    ['without an end', [begin(), next(piece('$.sum', { numberValue: 1 }))], 0],
    [
      'that end within a string',
      [begin(), next(piece('$.to', { stringValue: 'An', willContinue: true })), close],
      0,
    ],
    ['followed by another call', [begin(), begin(), close], 1],
  ])('%s make no call', (_, chunks, others) => {
    const { calls, finish } = codec.decodeStream([...chunks, end()])
    expect(finish?.unfinished).toMatchObject([{ tool: 'pay' }])
    expect(calls).toHaveLength(others)
  })

  it('that fit no JSON make a call that is refused', () => {
    const chunks = [begin(), next(piece('$.a[3]', { numberValue: 1 })), close, end()]
    expect(codec.decodeStream(chunks).calls).toMatchObject([{ fault: { rule: 'not-json' } }])
  })

  it('of a key that comes twice make a call that is refused', () => {
    const pieces = ['$.a', '$.b', '$.a'].map((path) => piece(path, { numberValue: 1 }))
    const { calls } = codec.decodeStream([begin(), next(...pieces), close, end()])
    expect(calls).toMatchObject([{ fault: { rule: 'duplicate-key' } }])
  })

  it('of two calls may alternate when they have ids', () => {
    const more = (id: string, n: number) =>
      call({ id, partialArgs: [piece('$.n', { numberValue: n })], willContinue: true })
    const { calls } = codec.decodeStream([
      begin({ id: 'a' }),
      begin({ id: 'b' }),
      more('b', 2),
      more('a', 1),
      call({ id: 'a' }),
      call({ id: 'b' }),
      end(),
    ])
    expect(calls).toMatchObject([
      { id: 'a', args: { n: 1 } },
      { id: 'b', args: { n: 2 } },
    ])
  })

  it('continue when the server repeats the name', () => {
    const again = call({ name: 'pay', partialArgs: [piece('$.n', { numberValue: 1 })] })
    expect(codec.decodeStream([begin(), again, end()]).calls).toMatchObject([{ args: { n: 1 } }])
  })

  it('keep the signature of their first piece', () => {
    const signed = chunk([
      { functionCall: { name: 'pay', willContinue: true }, thoughtSignature: 'c2ln' },
    ])
    const { items } = codec.decodeStream([signed, close, end()])
    const part = codec.encode(items) as { contents: unknown[] }
    expect(part.contents[1]).toMatchObject({
      parts: [{ functionCall: { name: 'pay', args: {} }, thoughtSignature: 'c2ln' }],
    })
  })

  it('ignores an end without a beginning', () => {
    expect(codec.decodeStream([close, end()]).items).toEqual([])
  })
})
