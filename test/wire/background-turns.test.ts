import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type HistoryItem, requestOf, wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { byHand, sampleTool } from '../turn-samples.ts'
import { connectModel } from './connect-model.ts'
import { samplesOf, WAYS } from './provider-samples.ts'

const conversation = 'c'
const secret = new Uint8Array(32).fill(9)

/** A background call whose result comes after the model has answered, one that ends at once, and an ordinary call. */
async function played(way: string) {
  const { script } = samplesOf(way)
  const call = (id: string, tool: string) => ({ id, tool, args: `{"q":"${id}"}` })
  const asked = script.calls([
    call('call_1', 'slow'),
    call('call_2', 'look'),
    call('call_3', 'slow'),
  ])
  const said = (text: string) => ({ events: script.answer(text) })
  const exchanges = [{ events: asked }, said('wait'), said('done'), said('more')]
  const { server, model } = await connectModel(way, exchanges)
  const store = memoryStore()
  const done = byHand<string>()
  const slow = sampleTool('slow', ({ q }) => (q === 'call_1' ? done.promise : 'at once'), {
    background: true,
  })
  const look = sampleTool('look', () => 'looked')
  const runner = new TurnRunner({ model, store, tools: [slow, look] })
  const handle = runner.run({ conversation, message: 'go' })
  await expect.poll(() => server.requests.length, { timeout: 5_000 }).toBe(2)
  done.resolve('slow result')
  const outcome = await handle
  return { server, runner, store, outcome, tools: [slow, look] }
}

describe.each(WAYS)('background calls over %s', (way) => {
  it('make requests that the provider takes, and that can be rebuilt', async () => {
    const { server, runner, store, outcome } = await played(way)
    expect([outcome.status, outcome.text, outcome.reason]).toEqual(['completed', 'done', undefined])
    expect((await runner.run({ conversation, message: 'and?' })).text).toBe('more')
    const bodies = server.requests.map(({ body }) => JSON.stringify(body))
    expect(bodies.map((body) => body.includes('slow result'))).toEqual([false, false, true, true])
    expect(bodies[3]?.match(/slow result/g)).toHaveLength(1)
    expect(bodies[3]?.match(/at once/g)).toHaveLength(1)
    let proven = 0
    for await (const { kind, data } of store.entries(conversation)) {
      if (kind !== 'model-call') continue
      const request = await requestOf(store, { conversation, modelCall: data.id })
      expect(request).toMatchObject({ proven: true, missing: [] })
      proven++
    }
    expect(proven).toBe(4)
  })

  it('travel to every other provider', async () => {
    const { store, tools } = await played(way)
    let items: readonly HistoryItem[] = []
    const other = new TurnRunner({
      store,
      tools,
      executor: async (ctx) => {
        items = [...ctx.items]
        return { answer: 'seen' }
      },
    })
    await other.run({ conversation, message: 'and?' })
    expect(items.filter((item) => 'resultOf' in item)).toHaveLength(2)
    for (const { api } of providers) {
      const codec = wire(api, { secret })
      const part = codec.encode(items)
      expect([api, codec.validate(part)]).toEqual([api, []])
      expect(JSON.stringify(part)).toContain('slow result')
    }
  })
})
