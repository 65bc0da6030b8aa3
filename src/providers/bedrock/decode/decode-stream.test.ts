import { describe, expect, it } from 'vitest'
import type { Finish, ModelEvent } from '../../../model/events/model-event.ts'
import { syntheticIds } from '../../../model/wire/synthetic-id.ts'
import { decodeStream } from './decode-stream.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const start = { messageStart: { role: 'assistant' } }
const delta = (contentBlockIndex: number, change: object) => ({
  contentBlockDelta: { delta: change, contentBlockIndex },
})
const begin = (contentBlockIndex: number, block: object) => ({
  contentBlockStart: { start: block, contentBlockIndex },
})
const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })
const end = (stopReason: string) => ({ messageStop: { stopReason } })
const counts = { metadata: { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } } }
const use = (index: number, id = 't1') => begin(index, { toolUse: { toolUseId: id, name: 'pay' } })
const input = (index: number, text: string) => delta(index, { toolUse: { input: text } })

function read(...events: readonly unknown[]) {
  const decoder = decodeStream({ mint })
  const told: ModelEvent[] = events.flatMap((event) => decoder.push(event))
  told.push(...decoder.end())
  const finish = told.find((event): event is Finish => event.type === 'finish')
  return { told, finish, calls: (finish?.items ?? []).filter(({ type }) => type === 'call') }
}

describe('decodeStream', () => {
  it('opens a text with its first piece, and tells pieces as they come', () => {
    const { told } = read(start, delta(0, { text: 'a' }), delta(0, { text: 'b' }), end('end_turn'))
    expect(told).toMatchObject([
      { type: 'text', key: '0', delta: 'a' },
      { type: 'text', key: '0', delta: 'b' },
      { type: 'finish', items: [{ parts: [{ text: 'ab' }] }] },
    ])
  })

  it('finishes with the counts, and without them when the stream ends', () => {
    const { told } = read(start, delta(0, { text: 'a' }), end('end_turn'), counts)
    expect(told.at(-1)).toMatchObject({ usage: { inputTokens: 1, outputTokens: 2 } })
    const without = read(start, delta(0, { text: 'a' }), end('end_turn'))
    expect(without.finish).toMatchObject({ reason: 'stop' })
    expect(without.finish).not.toHaveProperty('usage')
  })

  it('keeps a text behind a call apart from it', () => {
    const { finish } = read(
      start,
      use(0),
      input(0, '{}'),
      stop(0),
      delta(1, { text: 'x' }),
      end('tool_use'),
    )
    expect(finish?.items.map(({ type }) => type)).toEqual(['call', 'message'])
  })

  it('reads events of the client, which has bytes where JSON has base64', () => {
    const redacted = (redactedContent: unknown) =>
      delta(0, { reasoningContent: { redactedContent } })
    const { finish } = read(
      start,
      redacted(Uint8Array.of(0, 1)),
      redacted(Uint8Array.of(2)),
      delta(1, { text: 'a' }),
      end('end_turn'),
    )
    expect(finish?.items[0]).toMatchObject({
      providerData: { data: { type: 'redacted_thinking', data: 'AAEC' } },
    })
  })

  it('gives a call whose block never ended as unfinished', () => {
    const { calls, finish } = read(start, use(0), input(0, '{"sum":1}'), end('tool_use'))
    expect(calls).toEqual([])
    expect(finish?.unfinished).toEqual([{ tool: 'pay', callId: 't1', rawArgs: '{"sum":1}' }])
  })

  it('ignores a piece behind a complete call, and refuses one that would change it', () => {
    const late = (first: string) =>
      read(start, use(0), input(0, first), stop(0), input(0, '{"sum":2}'), end('tool_use'))
    expect(late('{"sum":1}').calls).toMatchObject([{ args: { sum: 1 } }])
    expect(() => late('{"sum"')).toThrow('which is not open')
  })

  it('forgets what came before a second start', () => {
    const { told } = read(
      start,
      delta(0, { text: 'a' }),
      start,
      delta(0, { text: 'b' }),
      end('end_turn'),
    )
    expect(told).toMatchObject([
      { key: '0' },
      { key: '2.0' },
      { type: 'finish', items: [{ parts: [{ text: 'b' }] }] },
    ])
  })

  it.each([
    ['a piece before the start', [delta(0, { text: 'a' })]],
    ['an end before the start', [end('end_turn')]],
    ['a piece of no call', [start, input(0, '{}')]],
    ['a call that starts twice', [start, use(0), use(0)]],
    ['a piece behind its text', [start, delta(0, { text: 'a' }), stop(0), delta(0, { text: 'b' })]],
    ['a text inside a call', [start, use(0), delta(0, { text: 'a' })]],
    ['a block without a place', [start, { contentBlockStop: {} }]],
    ['an event that is no object', ['oops']],
    ['an end that is missing', [start, delta(0, { text: 'a' })]],
  ])('refuses %s', (_, events) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code: 'E_STREAM_BROKEN' }))
  })

  it.each([
    ['internalServerException', 'E_PROVIDER_UNAVAILABLE'],
    ['modelStreamErrorException', 'E_PROVIDER_UNAVAILABLE'],
    ['serviceUnavailableException', 'E_PROVIDER_UNAVAILABLE'],
    ['throttlingException', 'E_PROVIDER_RATE_LIMITED'],
    ['validationException', 'E_PROVIDER_BAD_REQUEST'],
  ])('throws %s as %s', (name, code) => {
    const event = { [name]: { message: 'No.' } }
    expect(() => read(start, event)).toThrow(expect.objectContaining({ code }))
  })

  it('gives texts and thoughts of a stream that was cut, and no call', () => {
    const decoder = decodeStream({ mint })
    const events = [
      start,
      delta(0, { reasoningContent: { text: 'Hm.' } }),
      delta(1, { text: 'I' }),
      use(2),
      input(2, '{}'),
      stop(2),
    ]
    for (const event of events) decoder.push(event)
    expect(decoder.partial().map(({ type }) => type)).toEqual(['thought', 'message'])
  })

  it('ignores events that it does not know', () => {
    const { finish } = read(
      start,
      { $unknown: ['ping', {}] },
      delta(0, { text: 'a' }),
      { ping: {} },
      end('end_turn'),
    )
    expect(finish?.items).toHaveLength(1)
  })
})
