import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type LoopbackExchange, loopbackProvider } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { samplesOf, WAYS } from './provider-samples.ts'

/** A turn with two tools, whose names a response may confuse. */
async function play(
  way: string,
  exchanges: readonly LoopbackExchange[],
  streaming: boolean,
  retries = 0,
) {
  const { api, open } = samplesOf(way)
  const server = await loopbackProvider({ api, exchanges })
  onTestFinished(() => server.close())
  const ran: string[] = []
  const tool = (name: string) =>
    new Tool({
      name,
      description: 'Does it.',
      inputSchema: z.looseObject({}),
      effect: 'read',
      handler: () => {
        ran.push(name)
        return 'done'
      },
    })
  const runner = new TurnRunner({
    model: open(server.url, { streaming }),
    tools: [tool('read'), tool('wipe')],
    testing: { sleep: async () => {} },
    retries,
  })
  const outcome = await runner.run({ message: 'go' })
  return { outcome, ran }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const doubled = (value: unknown, from: string, to: string) => textOf(value).replace(from, to)

describe.each(WAYS)('a key that occurs twice over %s', (way) => {
  const { script } = samplesOf(way)
  const call = { id: 'call_1', tool: 'read', args: '{"sum":1}' }
  const answer = { events: script.answer('fine'), body: script.unstreamed.answer('fine') }
  const exchangeOf = (from: string, to: string): LoopbackExchange => ({
    events: script.calls([call]).map((event) => doubled(event, from, to)),
    body: doubled(script.unstreamed.call(call), from, to),
  })

  it.each([
    [true, 'name'],
    [false, 'name'],
    [true, 'n\\u0061me'],
    [false, 'n\\u0061me'],
  ])('runs no call that it names (streaming: %s, as %s)', async (streaming, key) => {
    const twice = exchangeOf('"name":"read"', `"name":"read","${key}":"wipe"`)
    expect(textOf(twice.events)).toContain('wipe')
    expect(twice.body).toContain('wipe')
    const { outcome, ran } = await play(way, [twice, answer], streaming)
    expect(ran).toEqual([])
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: { errorCode: 'E_STREAM_BROKEN', message: expect.stringContaining('name') },
      toolCalls: [],
    })
  })

  it('is tried again like any broken response', async () => {
    const twice = exchangeOf('"name":"read"', '"name":"read","name":"wipe"')
    const { outcome, ran } = await play(way, [twice, answer], true, 1)
    expect({ ran, text: outcome.text }).toEqual({ ran: [], text: 'fine' })
  })

  it.each([true, false])(
    'does no harm in a response without calls (streaming: %s)',
    async (streaming) => {
      const own = (value: unknown) => textOf(value).replace('{', '{"note":1,"note":2,')
      const said = {
        events: script.answer('fine').map(own),
        body: own(script.unstreamed.answer('fine')),
      }
      const { outcome } = await play(way, [said], streaming)
      expect(outcome).toMatchObject({ status: 'completed', text: 'fine' })
    },
  )
})

describe('reasoning that a chat server writes twice', () => {
  it('does not refuse the calls beside it', async () => {
    const script = samplesOf('openai-chat').script
    const events = script
      .calls([{ id: 'call_1', tool: 'read', args: '{}' }])
      .map((event, at) =>
        at === 0
          ? doubled(
              event,
              '"delta":{',
              '"delta":{"reasoning_content":"so","reasoning_content":"so",',
            )
          : event,
      )
    const { ran } = await play('openai-chat', [{ events }, { events: script.answer('fine') }], true)
    expect(ran).toEqual(['read'])
  })
})
