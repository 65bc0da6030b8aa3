import { describe, expect, it } from 'vitest'
import { BobbinError } from '../../../../core/error/error.ts'
import { IdLedger } from '../../../../core/ids.ts'
import type { Finish, ModelEvent } from '../../../../model/events/model-event.ts'
import { syntheticIds } from '../../../../model/wire/synthetic-id.ts'
import type { CallItem } from '../../../../records/history-item.ts'
import { decodeStream } from './decode-stream.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(3) })

const delta = (content: object, finish_reason: unknown = null) => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, delta: content, finish_reason }],
})
const piece = (index: unknown, id: unknown, name: unknown, args: unknown) =>
  delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] })
const more = (index: unknown, args: string, id?: unknown) =>
  delta({ tool_calls: [{ index, ...(id !== undefined && { id }), function: { arguments: args } }] })
const TOOLS = delta({}, 'tool_calls')

function run(chunks: readonly unknown[], ids = new IdLedger()): Finish {
  const decoder = decodeStream({ mint, ids })
  const events: ModelEvent[] = chunks.flatMap((chunk) => [...decoder.push(chunk)])
  const last = [...events, ...decoder.end()].at(-1)
  if (last?.type !== 'finish') throw new Error('the finish is missing')
  return last
}

function callsOf(chunks: readonly unknown[], ids?: IdLedger): CallItem[] {
  return run(chunks, ids).items.filter((item) => item.type === 'call')
}

function failureOf(chunks: readonly unknown[]): BobbinError {
  try {
    run(chunks)
  } catch (error) {
    if (error instanceof BobbinError) return error
    throw error
  }
  throw new Error('nothing failed')
}

describe('decodeStream', () => {
  it('tells text, reasoning and arguments as they come', () => {
    const decoder = decodeStream({ mint })
    const chunks = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm.' }),
      delta({ content: 'Hi.' }),
      piece(0, 'call_1', 'pay', ''),
      more(0, '{"a":1}'),
      TOOLS,
    ]
    expect(chunks.flatMap((chunk) => [...decoder.push(chunk)])).toEqual([
      { type: 'thought', key: 'thought', delta: 'Hm.' },
      { type: 'text', key: 'text', delta: 'Hi.' },
      { type: 'toolInput', key: 'call.0', tool: 'pay', delta: '{"a":1}' },
    ])
    expect(decoder.end()).toHaveLength(1)
    expect(decoder.end()).toEqual([])
    expect(decoder.push(TOOLS)).toEqual([])
  })

  it('tells reason, usage and the id of the response', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, prompt_cache_hit_tokens: 3 }
    const finish = run([delta({ content: 'Hi.' }, 'stop'), { id: 'x', choices: [], usage }])
    expect(finish).toMatchObject({
      reason: 'stop',
      rawReason: 'stop',
      responseId: 'chatcmpl-1',
      usage: { inputTokens: 5, outputTokens: 2, cachedInputTokens: 3 },
    })
  })

  it('gives no finish and no call when the stream ends before its finish reason', () => {
    const chunks = [delta({ content: 'Hi.' }), piece(0, 'call_1', 'pay', '{}')]
    expect(failureOf(chunks)).toMatchObject({ code: 'E_STREAM_BROKEN', data: { reason: 'cut' } })
    const decoder = decodeStream({ mint })
    for (const chunk of chunks) decoder.push(chunk)
    expect(decoder.partial()).toMatchObject([{ type: 'message' }])
  })

  it.each([
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'filter'],
    ['insufficient_system_resource', 'error'],
    ['constructor', 'other'],
    [7, 'other'],
  ])('admits no call when the finish reason is %s', (word, reason) => {
    const finish = run([piece(0, 'call_1', 'pay', '{"sum":1}'), delta({}, word)])
    expect(finish).toMatchObject({ reason, items: [] })
    expect(finish.unfinished).toEqual([{ tool: 'pay', callId: 'call_1', rawArgs: '{"sum":1}' }])
  })

  it.each(['tool_calls', 'stop', 'function_call'])('admits calls when it is %s', (word) => {
    expect(callsOf([piece(0, 'call_1', 'pay', '{}'), delta({}, word)])).toHaveLength(1)
  })

  it('takes the worse of two finish reasons', () => {
    const chunks = [piece(0, 'c', 'pay', '{}'), TOOLS, delta({}, 'content_filter'), TOOLS]
    expect(run(chunks)).toMatchObject({ reason: 'filter', items: [] })
  })

  it('refuses a call that continues after the finish reason', () => {
    const chunks = [piece(0, 'call_1', 'pay', ''), TOOLS, more(0, '{"sum":1}')]
    expect(failureOf(chunks).code).toBe('E_STREAM_BROKEN')
  })

  it.each([undefined, null, ''])('mints an id, the same again, when it is %s', (id) => {
    const chunks = [piece(0, id, 'pay', '{}'), piece(1, id, 'pay', '{}'), TOOLS]
    const calls = callsOf(chunks)
    expect(calls).toHaveLength(2)
    for (const call of calls) {
      expect(call.id).toMatch(/^bob_/)
      expect(call.wire).toEqual({
        provider: 'openai',
        api: 'openai-chat',
        type: 'function',
        origin: 'synthetic',
      })
    }
    expect(calls[0]?.id).not.toBe(calls[1]?.id)
    expect(callsOf(chunks)).toEqual(calls)
  })

  it('keeps duplicate ids of one response and of the next apart', () => {
    const ids = new IdLedger()
    const chunks = [piece(0, 'call_0', 'a', '{}'), piece(1, 'call_0', 'b', '{}'), TOOLS]
    expect(callsOf(chunks, ids).map(({ id }) => id)).toEqual(['call_0', 'call_0~2'])
    expect(callsOf(chunks, ids)).toMatchObject([
      { id: 'call_0~3', tool: 'a', wire: { callId: 'call_0' } },
      { id: 'call_0~4', tool: 'b', wire: { callId: 'call_0' } },
    ])
  })

  it('keeps the first id of a call whose id changes', () => {
    const chunks = [piece(0, 'call_1', 'pay', ''), more(0, '{"a"', 'call_x'), more(0, ':1}', 'y')]
    expect(callsOf([...chunks, TOOLS])).toMatchObject([{ id: 'call_1', args: { a: 1 } }])
  })

  it('takes the id that comes with a later piece', () => {
    const chunks = [piece(0, '', 'pay', ''), more(0, '{}', 'call_1'), TOOLS]
    expect(callsOf(chunks)).toMatchObject([{ id: 'call_1' }])
  })

  it('takes a name that every piece repeats once', () => {
    const chunks = [piece(0, 'c', 'pay', '{"a":'), piece(0, 'c', 'pay', '1}'), TOOLS]
    expect(callsOf(chunks)).toMatchObject([{ tool: 'pay', args: { a: 1 } }])
    const nameless = [piece(0, '', 'pay', '{"a":'), piece(0, '', 'pay', '1}'), TOOLS]
    expect(callsOf(nameless)).toMatchObject([{ tool: 'pay', args: { a: 1 } }])
  })

  it('keeps calls apart that share the index 0', () => {
    const chunks = [piece(0, 'a', 'x', '{"n":1}'), piece(0, 'b', 'x', '{"n":2}'), TOOLS]
    expect(callsOf(chunks)).toMatchObject([{ args: { n: 1 } }, { args: { n: 2 } }])
    const anonymous = [piece(0, '', 'x', '{"n":1}'), piece(0, '', 'x', '{"n":2}'), TOOLS]
    expect(callsOf(anonymous)).toMatchObject([{ args: { n: 1 } }, { args: { n: 2 } }])
    const others = [piece(0, '', 'x', '{"n":1}'), piece(0, '', 'y', ''), more(0, '{"n":2}'), TOOLS]
    expect(callsOf(others)).toMatchObject([{ tool: 'x' }, { tool: 'y', args: { n: 2 } }])
  })

  it('separates calls without index by id, and adds pieces without id to the last', () => {
    const chunks = [
      piece(undefined, 'a', 'x', ''),
      piece(undefined, 'b', 'x', ''),
      more(undefined, '{"n":1}', 'a'),
      more(undefined, '{"n"', 'b'),
      more(undefined, ':2}'),
      TOOLS,
    ]
    expect(callsOf(chunks)).toMatchObject([
      { id: 'a', args: { n: 1 } },
      { id: 'b', args: { n: 2 } },
    ])
  })

  it.each([
    ['another id, the same name', piece(0, 'b', 'x', '1}')],
    ['another name, the same id', piece(0, 'a', 'y', '1}')],
    ['another name, no id', piece(0, '', 'y', '1}')],
  ])('refuses half a call that continues under %s', (_, next) => {
    const chunks = [piece(0, 'a', 'x', '{"n":'), next, TOOLS]
    expect(failureOf(chunks)).toMatchObject({
      code: 'E_STREAM_BROKEN',
      data: { reason: 'unexpected-event' },
    })
  })

  it.each([
    ['cut text', '{"path":"/tm', 'not-json'],
    ['a duplicate key', '{"a":1,"a":2}', 'duplicate-key'],
    ['an unsafe integer', '{"a":9007199254740993}', 'unsafe-integer'],
    ['two values', '{}{}', 'not-json'],
    ['no object', '[1]', 'not-an-object'],
    ['20,000 levels', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'too-deep'],
  ])('gives arguments of %s as a call that cannot run', (_, text, rule) => {
    const [call] = callsOf([piece(0, 'c', 'pay', text), TOOLS])
    expect(call).toMatchObject({ tool: 'pay', rawArgs: text, fault: { rule } })
    expect(Object.keys(call?.args ?? {})).toEqual(['$unparsed'])
  })

  it('refuses 5 MB of arguments that came in pieces', () => {
    const pieces = Array.from({ length: 500 }, () => more(0, 'x'.repeat(10_000)))
    const chunks = [piece(0, 'c', 'pay', '{"a":"'), ...pieces, more(0, '"}'), TOOLS]
    expect(callsOf(chunks)).toMatchObject([{ fault: { rule: 'too-large' } }])
  })

  it('takes arguments that came as an object', () => {
    expect(callsOf([piece(0, 'c', 'pay', { a: 1 }), TOOLS])).toMatchObject([{ args: { a: 1 } }])
  })

  it.each(['constructor', '__proto__', 'toString'])('reads a tool named %s', (name) => {
    const chunks = [piece(0, name, name, `{"${name}":1}`), TOOLS]
    const [call] = callsOf(chunks)
    expect(call).toMatchObject({ id: name, tool: name })
    expect(Object.keys(call?.args ?? {})).toEqual([name])
  })

  it('survives a call without a name', () => {
    expect(callsOf([more(0, '{}'), TOOLS])).toMatchObject([{ tool: '' }])
  })

  it.each([
    [{ error: { message: 'Slow down.', code: 429 } }, 'E_PROVIDER_RATE_LIMITED'],
    [{ error: { message: 'Busy.', type: 'server_error', code: null } }, 'E_PROVIDER_UNAVAILABLE'],
    [{ error: 'Something broke.' }, 'E_PROVIDER_UNAVAILABLE'],
    [{ object: 'error', message: 'No.', code: 400 }, 'E_PROVIDER_BAD_REQUEST'],
    [{ choices: [{ delta: {}, error: { code: 502, message: 'up' } }] }, 'E_PROVIDER_UNAVAILABLE'],
  ])('throws the error that a chunk tells: %j', (chunk, code) => {
    expect(failureOf([piece(0, 'c', 'pay', '{}'), chunk, TOOLS]).code).toBe(code)
  })

  it.each([null, 'text', [], 3])('refuses %j as a chunk', (chunk) => {
    expect(failureOf([chunk]).code).toBe('E_STREAM_BROKEN')
  })

  it.each([
    {},
    { choices: null },
    { choices: [null] },
    { choices: [{}] },
    { choices: [{ delta: null }] },
    { choices: [{ delta: { tool_calls: null, content: 5 } }] },
    { choices: [{ delta: { tool_calls: [] } }] },
  ])('passes over %j', (chunk) => {
    expect(run([chunk, delta({ content: 'Hi.' }, 'stop'), chunk]).items).toMatchObject([
      { type: 'message', parts: [{ text: 'Hi.' }] },
    ])
  })

  it('keeps pieces of a second answer out of the first', () => {
    const second = { choices: [{ index: 1, delta: { content: 'No.' }, finish_reason: 'length' }] }
    const chunks = [delta({ content: 'Y' }), second, delta({ content: 'es.' }, 'stop')]
    expect(run(chunks)).toMatchObject({ reason: 'stop', items: [{ parts: [{ text: 'Yes.' }] }] })
  })

  it('reads a call that has no id and no tool_calls, streamed', () => {
    const chunks = [
      delta({ function_call: { name: 'pay', arguments: '' } }),
      delta({ function_call: { arguments: '{"a":1}' } }),
      delta({}, 'function_call'),
    ]
    expect(callsOf(chunks)).toMatchObject([
      { tool: 'pay', args: { a: 1 }, wire: { type: 'function_call', origin: 'synthetic' } },
    ])
  })

  it('joins the pieces of a refusal and of a transcript', () => {
    const refused = run([delta({ refusal: 'I ' }), delta({ refusal: 'cannot.' }, 'stop')])
    expect(refused).toMatchObject({
      reason: 'refusal',
      items: [{ parts: [{ text: 'I cannot.' }] }],
    })
    const spoken = run([
      delta({ audio: { id: 'audio_1', transcript: 'Hel', data: 'AA==' } }),
      delta({ audio: { transcript: 'lo.', expires_at: 1 } }, 'stop'),
    ])
    expect(spoken.items).toMatchObject([{ parts: [{ text: 'Hello.' }] }])
  })

  it('keeps both halves of opaque data that comes in two chunks', () => {
    const { items } = run([
      delta({ content: 'a', extra_content: { google: { thought: true } } }),
      delta({ extra_content: { google: { thought_signature: 's' } } }, 'stop'),
    ])
    expect(items[0]?.type === 'message' && items[0].providerData?.data).toMatchObject({
      message: { extra_content: { google: { thought: true, thought_signature: 's' } } },
    })
  })
})
