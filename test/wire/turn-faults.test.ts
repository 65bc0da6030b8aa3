import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { LoopbackExchange } from '../../src/testing/index.ts'
import { eventRecorder, loopbackProvider } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type Decoded, wire } from '../../src/wire/index.ts'
import { isThorough } from '../runs.ts'
import { samplesOf, WAYS } from './provider-samples.ts'
import type { ScriptedCall } from './wire-script.ts'

/** A turn over HTTP, through the official client, with a tool that must not run by mistake. */
async function play(
  way: string,
  exchanges: readonly LoopbackExchange[],
  { streaming = true, ...options }: { limits?: { timeMs: number }; streaming?: boolean } = {},
) {
  const { api, open } = samplesOf(way)
  const { validate } = wire(api)
  const server = await loopbackProvider({ api, exchanges, validate })
  onTestFinished(() => server.close())
  const paid: unknown[] = []
  const pay = new Tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.looseObject({ sum: z.number() }),
    effect: 'write',
    handler: (args) => {
      paid.push(args)
      return 'paid'
    },
  }) as Tool
  const runner = new TurnRunner({
    model: open(server.url, { streaming }),
    tools: [pay],
    policy: 'open',
    testing: { sleep: async () => {} },
    retries: 1,
    ...options,
  })
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go' })
  const violations = server.requests.flatMap((request) => request.violations)
  const ids = outcome.toolCalls.map(({ id, settlement }) => `${id} ${settlement}`)
  return { outcome, paid, ids, recorder, server, violations }
}

const call = (more: Partial<ScriptedCall> = {}): ScriptedCall => ({
  id: 'call_1',
  tool: 'pay',
  args: '{"sum":1}',
  ...more,
})

describe.each(WAYS)('a turn over %s', (way) => {
  const { api, script } = samplesOf(way)
  const events = script.calls([call()])
  const { terminal, whole } = script
  const ANSWER: LoopbackExchange = { events: script.answer('fine') }
  // The arguments of this wire are parsed by its client, so that some faults cannot reach us.
  const hasText = api !== 'gemini'

  it.each([true, false])('runs a call and sends its result (streaming: %s)', async (streaming) => {
    const { unstreamed } = script
    const bodies = [{ body: unstreamed.call(call()) }, { body: unstreamed.answer('fine') }]
    const exchanges = streaming ? [{ events }, ANSWER] : bodies
    const { outcome, paid, ids, violations, server } = await play(way, exchanges, { streaming })
    expect(server.requests.map(({ isStream }) => isStream)).toEqual([streaming, streaming])
    expect(JSON.stringify(server.requests[1]?.body)).toContain('paid')
    expect(paid).toEqual([{ sum: 1 }])
    expect(ids).toEqual(['call_1 ok'])
    expect(outcome).toMatchObject({ status: 'completed', text: 'fine' })
    expect(violations).toEqual([])
  })

  it('reads the same call from a stream and from a whole response', () => {
    const codec = wire(api)
    const parsed = events.map((event) =>
      typeof event === 'string' ? (JSON.parse(event) as unknown) : event,
    )
    const known = ({ calls }: Decoded) =>
      calls.map(({ id, tool, args, wire: from }) => ({ id, tool, args, from }))
    const streamed = known(codec.decodeStream(parsed))
    expect(streamed).toMatchObject([{ id: 'call_1', tool: 'pay', args: { sum: 1 } }])
    expect(known(codec.decode(script.unstreamed.call(call())))).toEqual(streamed)
  })

  const cuts = events.slice(0, terminal + 1).flatMap((_, at) => [
    { name: `ends before event ${at}`, fault: { type: 'cut', at } as const },
    { name: `ends within event ${at}`, fault: { type: 'cut', at, byte: 30 } as const },
    { name: `is reset before event ${at}`, fault: { type: 'reset', at } as const },
    {
      name: `has an error at event ${at}`,
      fault: { type: 'error', at, status: 529 } as const,
    },
  ])
  it.each([
    ...cuts,
    { name: 'holds a call that is corrupted', fault: { type: 'corrupt', at: whole } as const },
    { name: 'is not UTF-8', fault: { type: 'invalid-utf8', at: whole } as const },
  ])('never runs a call of a stream that $name, and reports it', async ({ fault }) => {
    const { outcome, paid, recorder, violations } = await play(way, [{ events, fault }, ANSWER])
    expect(paid).toEqual([])
    expect(violations).toEqual([])
    expect(outcome.toolCalls).toEqual([])
    const retries = recorder.of('warning').filter(({ code }) => code === 'MODEL_RETRY')
    const isTold = retries.length === 1 ? outcome.text === 'fine' : outcome.status === 'failed'
    expect({ isTold, reason: outcome.reason }).toMatchObject({ isTold: true })
  })

  it.each([
    { name: 'the token limit cut the response', exchange: script.calls([call()], 'length') },
    { name: 'a filter cut the response', exchange: script.calls([call()], 'filter') },
    { name: 'it ended with an unknown reason', exchange: script.calls([call()], 'novelty') },
    {
      name: 'a number is beyond 2^53',
      exchange: script.calls([call({ args: '{"sum":9007199254740993}' })]),
    },
    ...(script.unended
      ? [{ name: 'its arguments parse but it never ended', exchange: script.unended(call()) }]
      : []),
    ...(hasText
      ? [
          { name: 'its arguments are cut', exchange: script.calls([call({ args: '{"sum":1' })]) },
          {
            name: 'its arguments hold a key twice',
            exchange: script.calls([call({ args: '{"sum":1,"sum":2}' })]),
          },
        ]
      : []),
  ])('never runs a call when $name, and settles it as refused', async ({ exchange }) => {
    const { outcome, paid, recorder, violations } = await play(way, [{ events: exchange }, ANSWER])
    expect(paid).toEqual([])
    expect(violations).toEqual([])
    expect(outcome.toolCalls).toMatchObject([{ tool: 'pay', settlement: 'refused' }])
    expect(recorder.of('toolCall').map(({ isComplete }) => isComplete)).toEqual([false, true])
    expect(['completed', 'stopped']).toContain(outcome.status)
    if (outcome.status === 'stopped') expect(outcome.reason?.code).toBe('MODEL_STOPPED')
  })

  it('never runs a call of a stream that stalls for good; the time limit ends the turn', async () => {
    const exchange: LoopbackExchange = { events, fault: { type: 'stall', at: terminal } }
    const { outcome, paid } = await play(way, [exchange], { limits: { timeMs: 300 } })
    expect(outcome).toMatchObject({
      status: 'stopped',
      reason: { code: 'MAX_TIME' },
      toolCalls: [],
    })
    expect(paid).toEqual([])
  })

  it.each(events.map((_, at) => at))(
    'runs nothing but what was asked, and that once, when event %i comes twice or late',
    async (at) => {
      const both = ['duplicate', 'reorder'] as const
      const types = isThorough ? both : both.slice(at % 2, (at % 2) + 1)
      for (const type of types) {
        const { paid, violations } = await play(way, [{ events, fault: { type, at } }, ANSWER])
        // A chunk that is a whole call counts as another call when it comes again: it has no mark.
        const most = hasText ? 1 : 2
        expect(paid.length).toBeLessThanOrEqual(most)
        for (const args of paid) expect(args).toEqual({ sum: 1 })
        expect(violations).toEqual([])
      }
    },
  )

  it('tells two calls under one id apart', async () => {
    const two = script.calls([call(), call({ args: '{"sum":2}' })])
    const { outcome, paid, ids, violations } = await play(way, [{ events: two }, ANSWER])
    expect(paid).toEqual([{ sum: 1 }, { sum: 2 }])
    expect(ids).toEqual(['call_1 ok', 'call_1~2 ok'])
    expect(violations).toEqual([])
    expect(outcome.status).toBe('completed')
  })

  it('keeps ids unique when every response has the same', async () => {
    const again = (sum: number) => ({ events: script.calls([call({ args: `{"sum":${sum}}` })]) })
    const played = await play(way, [again(1), again(2), again(3), ANSWER])
    expect(played.ids).toEqual(['call_1 ok', 'call_1~2 ok', 'call_1~3 ok'])
    expect(played.paid).toEqual([{ sum: 1 }, { sum: 2 }, { sum: 3 }])
    expect(played.violations).toEqual([])
    expect(played.outcome.status).toBe('completed')
  })

  it.each([undefined, null, ''])('gives calls whose id is %o unguessable ids', async (id) => {
    const two = [1, 2].map((sum): ScriptedCall => {
      const { id: _, ...rest } = call({ args: `{"sum":${sum}}` })
      return { ...rest, ...(id !== undefined && { id }) }
    })
    const played = await play(way, [{ events: script.calls(two) }, ANSWER])
    expect(played.paid).toEqual([{ sum: 1 }, { sum: 2 }])
    const minted = /^(bob_\S{22}|fc_\d) ok$/
    expect(played.ids).toEqual([expect.stringMatching(minted), expect.stringMatching(minted)])
    expect(new Set(played.ids).size).toBe(2)
    expect(played.outcome.status).toBe('completed')
    expect(played.violations).toEqual([])
  })

  it.each(['', 'constructor', '__proto__', 'toString'])(
    'refuses a call of a tool named `%s` and continues',
    async (tool) => {
      const asking = { events: script.calls([call({ tool })]) }
      const played = await play(way, [asking, ANSWER])
      expect(played.paid).toEqual([])
      expect(played.ids).toEqual(['call_1 refused'])
      expect(played.outcome.status).toBe('completed')
      expect(played.violations).toEqual([])
    },
  )

  it('refuses arguments that nest 20,000 deep and continues', async () => {
    const deep = `{"sum":1,"more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const played = await play(way, [{ events: script.calls([call({ args: deep })]) }, ANSWER])
    expect(played.paid).toEqual([])
    expect(played.violations).toEqual([])
    expect(played.ids).toEqual(['call_1 refused'])
    expect(played.outcome.status).toBe('completed')
  })

  it('refuses 5 MB of arguments and does not send them back', async () => {
    const args = `{"sum":1,"more":"${'x'.repeat(5_000_000)}"}`
    const played = await play(way, [{ events: script.calls([call({ args })]) }, ANSWER])
    expect(played.paid).toEqual([])
    expect(played.ids).toEqual(['call_1 refused'])
    expect(played.outcome.status).toBe('completed')
    expect(JSON.stringify(played.server.requests[1]?.body).length).toBeLessThan(20_000)
  })
})

const withText = ['openai-responses', 'foundry', 'openai-chat', 'anthropic-messages'] as const

describe.each(withText)('the pieces of calls over %s', (api) => {
  const script = samplesOf(api).script
  const ANSWER: LoopbackExchange = { events: script.answer('fine') }

  it('find their calls when those come at the same time', async () => {
    const other = call({ id: 'call_2', args: '{"sum":22}' })
    const one = script.calls([call()])
    const two = script.calls([call(), other])
    const size = two.length - one.length
    const head = api === 'anthropic-messages' ? 1 : 0
    const pieces = (at: number) => two.slice(head + at * size, head + (at + 1) * size)
    const interleaved = pieces(0).flatMap((piece, at) => [piece, pieces(1)[at]])
    const events = [...two.slice(0, head), ...interleaved, ...two.slice(head + 2 * size)]
    expect(events).toHaveLength(two.length)
    const { paid, ids, violations } = await play(api, [{ events }, ANSWER])
    expect(paid).toEqual([{ sum: 1 }, { sum: 22 }])
    expect(ids).toEqual(['call_1 ok', 'call_2 ok'])
    expect(violations).toEqual([])
  })
})

describe.each(['openai-responses', 'foundry'] as const)('ids that change over %s', (api) => {
  const script = samplesOf(api).script
  const ANSWER: LoopbackExchange = { events: script.answer('fine') }
  const changed = (member: string) =>
    script.calls([call()]).map((event, at) => {
      const { item } = event as { item?: object }
      return at === 0 || item === undefined
        ? event
        : { ...(event as object), item: { ...item, [member]: 'other' } }
    })

  it('mean nothing when they name the stored item', async () => {
    const played = await play(api, [{ events: changed('id') }, ANSWER])
    expect(played.paid).toEqual([{ sum: 1 }])
    expect(played.ids).toEqual(['call_1 ok'])
    expect(played.violations).toEqual([])
  })

  it('leave one call, under the id with which it ended', async () => {
    const played = await play(api, [{ events: changed('call_id') }, ANSWER])
    expect(played.paid).toEqual([{ sum: 1 }])
    expect(played.ids).toEqual(['other ok'])
    expect(played.violations).toEqual([])
  })
})

describe('ids that change over openai-chat', () => {
  const script = samplesOf('openai-chat').script
  const ANSWER: LoopbackExchange = { events: script.answer('fine') }

  it('leave one call, under the id with which it began', async () => {
    const events = script.calls([call()]).map((event, at) => {
      const text = JSON.stringify(event)
      return at === 2 ? text.replace('"index":0,"function"', '"index":0,"id":"x","function"') : text
    })
    expect(events[2]).toContain('"id":"x"')
    const played = await play('openai-chat', [{ events }, ANSWER])
    expect(played.paid).toEqual([{ sum: 1 }])
    expect(played.ids).toEqual(['call_1 ok'])
    expect(played.violations).toEqual([])
  })
})

describe('what the client of gemini hides', () => {
  const script = samplesOf('gemini').script
  const ANSWER: LoopbackExchange = { events: script.answer('fine') }

  it('is seen on the way to it: a key that comes twice in arguments', async () => {
    const events = script.calls([call({ args: '{"sum":1,"sum":2}' })])
    const { outcome, paid } = await play('gemini', [{ events }, ANSWER])
    expect({ paid, text: outcome.text }).toEqual({ paid: [], text: 'fine' })
  })

  it('is seen on the way to it: bytes that are not UTF-8', async () => {
    const [first = '', ...rest] = script.calls([call({ args: '{"sum":1,"note":"@"}' })])
    const frames = [first, ...rest].map((event) => `data: ${event as string}\r\n\r\n`).join('')
    const recording = Buffer.from(frames)
    recording[recording.indexOf('@')] = 0xff
    const { outcome, paid } = await play('gemini', [{ recording }, ANSWER])
    expect({ paid, text: outcome.text }).toEqual({ paid: [], text: 'fine' })
  })
})
