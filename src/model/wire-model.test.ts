import { describe, expect, it } from 'vitest'
import { defineProvider } from './define-provider.ts'
import { assemble } from './events/assembler.ts'
import type { ModelEvent } from './events/model-event.ts'
import type { Framing } from './provider-definition.ts'
import { clientFailure } from './provider-failure.ts'
import { brokenStream } from './stream-fault.ts'
import { HistoryBuilder } from './wire/history-builder.ts'
import { wireModel } from './wire-model.ts'

interface Event {
  readonly say?: string
  readonly call?: string
}

/** A protocol of texts and calls, whose last event is empty. */
function speaking(framing: Framing) {
  return defineProvider({
    api: 'own',
    provider: 'own',
    version: 1,
    framing,
    detect: () => false,
    decode: () => ({ items: [] }),
    decodeStream: (context) => {
      const builder = new HistoryBuilder('own', 'own', context)
      builder.startResponse('r')
      let isOver = false
      return {
        push(value) {
          const { say, call } = value as Event
          if (say !== undefined) return [{ type: 'text', key: 'say', delta: say }]
          if (call !== undefined) {
            builder.call({ type: 'call', tool: call, executedBy: 'runner', callId: 'c', args: {} })
            return []
          }
          isOver = true
          return [assemble(builder.items, { reason: 'tools' })]
        },
        end() {
          if (!isOver) throw brokenStream('cut', 'it ends early')
          return []
        },
        partial: () => [],
      }
    },
    encode: () => ({}),
    requestBody: () => ({}),
    errors: (error) => clientFailure('own', error),
  })
}

async function eventsOf(framing: Framing, reply: unknown): Promise<ModelEvent[]> {
  const model = wireModel(speaking(framing), { model: 'm', send: async () => reply as Response })
  const events: ModelEvent[] = []
  for await (const event of model.stream({ items: [] })) events.push(event)
  return events
}

/** A response in chunks of so many bytes. */
function inChunks(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text)
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => at * size)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const at of starts) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
}

const LINES = '{"say":"Schön"}\r\n\n{"say":"."}\n{"call":"look"}\n{}'

describe('wireModel', () => {
  it.each([1, 2, 7, 100])('reads lines of JSON in chunks of %i bytes', async (size) => {
    expect(await eventsOf('json', inChunks(LINES, size))).toMatchObject([
      { type: 'text', delta: 'Schön' },
      { type: 'text', delta: '.' },
      { type: 'finish', items: [{ type: 'call', tool: 'look' }] },
    ])
  })

  it.each([
    ['cut', LINES.slice(0, -2)],
    ['not-json', LINES.slice(0, -1)],
    ['not-json', `data: ${LINES}`],
    ['duplicate-key', LINES.replace('"call"', '"call":"a","call"')],
  ])('refuses lines that are broken: %s', async (reason, text) => {
    const reading = eventsOf('json', inChunks(text, 5))
    await expect(reading).rejects.toMatchObject({ code: 'E_STREAM_BROKEN', data: { reason } })
  })

  it('refuses lines whose bytes are not UTF-8', async () => {
    const reply = new Response(new Uint8Array([0x22, 0xff, 0x22, 0x0a]))
    const broken = { code: 'E_STREAM_BROKEN', data: { reason: 'invalid-utf8' } }
    await expect(eventsOf('json', reply)).rejects.toMatchObject(broken)
  })

  it.each([undefined, null, 5, 'text', {}, { events: 5 }, { events: null }])(
    'refuses a `send` that gives %j, and does not call it an absent provider',
    async (reply) => {
      await expect(eventsOf('sse', reply)).rejects.toMatchObject({
        code: 'E_INVALID_INPUT',
        data: { of: 'wireModel', path: 'send' },
      })
    },
  )

  it.each([{ stream: 'no' }, { params: 5 }, { hostedTools: {} }, { maxResponseBytes: 0 }])(
    'refuses %j',
    (wrong) => {
      const options = { model: 'm', send: async () => new Response(), ...wrong }
      const [path] = Object.keys(wrong)
      expect(() => wireModel(speaking('sse'), options as never)).toThrow(
        expect.objectContaining({ data: expect.objectContaining({ path }) }),
      )
    },
  )
})
