import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../../../core/error/error.ts'
import type { Finish, ModelEvent } from '../../../model/events/model-event.ts'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import type { StreamDecoder } from '../../../model/wire/wire-adapter.ts'
import type { CallItem } from '../../../records/history-item.ts'
import { decodeStream } from './decode-stream.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const decoder = () => decodeStream({ mint })

const begin = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], stop_reason: null },
}
const open = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const use = (id: unknown, name = 'pay') => ({ type: 'tool_use', id, name, input: {} })
const json = (index: number, partial_json: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
})
const close = (index: number) => ({ type: 'content_block_stop', index })
const end = (stop_reason: string | null = 'tool_use') => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]
const called = (id: unknown, args: string, name?: string) => [
  begin,
  open(0, use(id, name)),
  json(0, args),
  close(0),
]

function pushAll(target: StreamDecoder, events: readonly object[]): ModelEvent[] {
  return events.flatMap((event) => [...target.push(event, JSON.stringify(event))])
}

function finishOf(events: readonly object[]): Finish {
  const finish = pushAll(decoder(), events).at(-1)
  if (finish?.type !== 'finish') throw new Error('the finish is missing')
  return finish
}

const callsOf = (events: readonly object[]) =>
  finishOf(events).items.filter((item): item is CallItem => item.type === 'call')

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (isBobbinError(error)) return error.code
    throw error
  }
  return 'none'
}

describe('decodeStream', () => {
  it('tells text, thoughts and arguments as they come', () => {
    const told = pushAll(decoder(), [
      begin,
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
      close(0),
      open(1, { type: 'text', text: 'A' }),
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'h' } },
      close(1),
      open(2, use('toolu_1')),
      json(2, ''),
      json(2, '{}'),
      close(2),
    ])
    expect(told).toEqual([
      { type: 'thought', key: '0', delta: 'Hm' },
      { type: 'text', key: '1', delta: 'A' },
      { type: 'text', key: '1', delta: 'h' },
      { type: 'toolInput', key: '2', tool: 'pay', delta: '{}' },
    ])
  })

  it('adds up tokens, those of the cache included', () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 1 }
    const started = { ...begin, message: { ...begin.message, usage } }
    expect(finishOf([started, ...end('end_turn')]).usage).toEqual({
      inputTokens: 13,
      outputTokens: 3,
      cachedInputTokens: 7,
      cacheWriteTokens: 1,
    })
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tools'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'pause'],
    ['compaction', 'pause'],
    ['refusal', 'refusal'],
    ['constructor', 'other'],
    [null, 'other'],
  ])('reads the stop reason %s as %s', (reason, expected) => {
    expect(finishOf([begin, ...end(reason)]).reason).toBe(expected)
  })

  it.each([
    'max_tokens',
    'refusal',
    'pause_turn',
    'model_context_window_exceeded',
    'new_word',
    null,
  ])('admits no call when the response ends with %s, and lists it', (reason) => {
    const finish = finishOf([...called('toolu_1', '{"sum":1}'), ...end(reason)])
    expect(finish.items).toEqual([])
    expect(finish.unfinished).toEqual([{ tool: 'pay', callId: 'toolu_1', rawArgs: '{"sum":1}' }])
  })

  it('gives nothing more after the last event', () => {
    const target = decoder()
    pushAll(target, [...called('toolu_1', '{}'), ...end()])
    expect(pushAll(target, [...called('toolu_2', '{}'), ...end()])).toEqual([])
    expect(target.end()).toEqual([])
  })

  it('does not take a block for said that was never closed', () => {
    const finish = finishOf([begin, open(0, use('toolu_1')), json(0, '{"sum":1}'), ...end()])
    expect(finish.items).toEqual([])
    expect(finish.unfinished).toEqual([{ tool: 'pay', callId: 'toolu_1', rawArgs: '{"sum":1}' }])
  })

  it('gives text and thoughts of a cut stream, and no call of the runner’s', () => {
    const target = decoder()
    pushAll(target, [
      ...called('toolu_1', '{"sum":1}'),
      open(1, { type: 'text', text: '' }),
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Half a sen' } },
    ])
    expect(target.partial()).toMatchObject([
      { type: 'message', parts: [{ type: 'text', text: 'Half a sen' }] },
    ])
    expect(codeOf(() => target.end())).toBe('E_STREAM_BROKEN')
  })

  it.each([
    ['an event without type', [{}]],
    ['an event that is not an object', [null]],
    ['a block before the message', [open(0, use('toolu_1'))]],
    ['an end before the message', [{ type: 'message_stop' }]],
    ['a block that starts twice', [begin, open(0, use('a')), open(0, use('b'))]],
    ['a piece of no block', [begin, json(3, '{}')]],
    ['a piece of a closed block', [...called('toolu_1', '{}'), json(0, '{}')]],
    ['a block without index', [begin, { ...open(0, use('a')), index: '0' }]],
    ['a block without content', [begin, { type: 'content_block_start', index: 0 }]],
  ])('refuses %s', (_, events) => {
    expect(codeOf(() => pushAll(decoder(), events as object[]))).toBe('E_STREAM_BROKEN')
  })

  it('throws what an error event says, also after a whole call', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const act = () => pushAll(decoder(), [...called('toolu_1', '{}'), error, ...end()])
    expect(codeOf(act)).toBe('E_PROVIDER_UNAVAILABLE')
  })

  it('ignores events and pieces that it does not know', () => {
    const events = [
      begin,
      { type: 'ping' },
      { type: 'brand_new' },
      open(0, use('toolu_1')),
      { type: 'content_block_delta', index: 0, delta: { type: 'new_delta', id: 'toolu_evil' } },
      json(0, '{"sum":1}'),
      close(0),
    ]
    expect(callsOf([...events, ...end()])).toMatchObject([{ id: 'toolu_1', args: { sum: 1 } }])
  })
})

describe('decodeStream: ids', () => {
  it.each([undefined, null, '', 7])('mints one where the id is %s', (id) => {
    const events = [...called(id, '{"sum":1}'), ...end()]
    const [first] = callsOf(events)
    expect(first).toMatchObject({ wire: { origin: 'synthetic' }, args: { sum: 1 } })
    expect(first?.id).toMatch(/^bob_[\w-]{22}$/)
    expect(callsOf(events)[0]?.id).toBe(first?.id)
  })

  it('keeps calls apart that share an id', () => {
    const second = [open(1, use('toolu_1')), json(1, '{"sum":2}'), close(1)]
    const calls = callsOf([...called('toolu_1', '{"sum":1}'), ...second, ...end()])
    expect(calls).toMatchObject([
      { id: 'toolu_1', args: { sum: 1 }, wire: { callId: 'toolu_1' } },
      { id: 'toolu_1~2', args: { sum: 2 }, wire: { callId: 'toolu_1' } },
    ])
  })
})

describe('decodeStream: arguments', () => {
  it.each([
    ['cut', '{"sum":1', 'not-json'],
    ['no object', '[1]', 'not-an-object'],
    ['with a duplicate key', '{"sum":1,"sum":2}', 'duplicate-key'],
    ['with an unsafe integer', '{"sum":9007199254740993}', 'unsafe-integer'],
    ['20,000 deep', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'too-deep'],
    ['of 5 MB', `{"a":"${'x'.repeat(5 * 1024 * 1024)}"}`, 'too-large'],
  ])('refuses to parse arguments that are %s', (_, args, rule) => {
    const [call] = callsOf([...called('toolu_1', args), ...end()])
    expect(call).toMatchObject({ fault: { rule }, args: { $unparsed: {} } })
    expect(call?.rawArgs).toBe(args)
  })

  it.each([
    ['a duplicate key', '{"sum":1,"sum":2}', 'duplicate-key'],
    ['an unsafe integer', '{"sum":9007199254740993}', 'unsafe-integer'],
    ['20,000 levels', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'too-deep'],
  ])('sees %s also in arguments that come parsed', (_, input, rule) => {
    const whole = `{"type":"tool_use","id":"toolu_1","name":"pay","input":${input}}`
    const start = `{"type":"content_block_start","index":0,"content_block":${whole}}`
    const message = `{"type":"message_start","message":{"id":"m","stop_reason":"tool_use","content":[${whole}]}}`
    const inBlock = decoder()
    inBlock.push(begin)
    inBlock.push(JSON.parse(start), start)
    const inMessage = decoder()
    inMessage.push(JSON.parse(message), message)
    for (const [target, rest] of [
      [inBlock, [close(0), ...end()]],
      [inMessage, [{ type: 'message_stop' }]],
    ] as const) {
      const finish = pushAll(target, rest).at(-1) as Finish
      expect(finish.items).toMatchObject([{ type: 'call', fault: { rule }, rawArgs: input }])
    }
  })

  it('takes names and keys of the prototype for data', () => {
    const [call] = callsOf([...called('toolu_1', '{"__proto__":{"a":1}}', 'constructor'), ...end()])
    expect(call?.tool).toBe('constructor')
    expect(Object.keys(call?.args ?? {})).toEqual(['__proto__'])
    expect(callsOf([...called('constructor', '{}', '__proto__'), ...end()])).toMatchObject([
      { id: 'constructor', tool: '__proto__' },
    ])
  })
})
