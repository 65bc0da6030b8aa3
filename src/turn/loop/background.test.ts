import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { inputRequired } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import type { ToolContext, ToolOutput } from '../../tools/tool-context.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import { TurnRunner } from '../turn-runner.ts'

type Handler = (
  args: { q?: string | undefined },
  ctx: ToolContext,
) => ToolOutput | Promise<ToolOutput>

const slow = (handler: Handler, more: Partial<ToolOptions> = {}) =>
  sampleTool('slow', handler, { effect: 'write', background: true, ...(more as object) })

const call = (id: string, q = id) => ({ call: 'slow', args: { q }, id })

const records = async (store: Store): Promise<readonly ToolCall[]> => {
  const { items } = await store.history({ conversation: 'k' })
  return items.filter((item) => 'settlement' in item)
}

/** The texts of the messages that bring results, and of the results of calls. */
const texts = (items: readonly HistoryItem[] = []) =>
  items.flatMap((item) => {
    const parts = item.type === 'call' ? item.result?.parts : 'parts' in item ? item.parts : []
    return (parts ?? []).map((part) => ('text' in part ? part.text : ''))
  })

/** Each request begins with everything that the one before it had. */
const expectGrowth = (requests: readonly { readonly items: readonly HistoryItem[] }[]) => {
  for (const [at, { items }] of requests.entries()) {
    const before = requests[at - 1]?.items ?? []
    expect(items.slice(0, before.length)).toEqual(before)
  }
}

const sound = async (store: Store) =>
  expect((await store.verify({ conversation: 'k' })).faults).toEqual([])

describe('a background call', () => {
  it('gives a receipt, lets the turn continue, and tells its result when it has ended', async () => {
    const store = memoryStore()
    const done = byHand<string>()
    const model = scriptedModel([
      [call('c1')],
      [{ call: 'quick', args: {}, id: 'c2' }],
      [{ text: 'I wait.' }],
      [{ text: 'All done.' }],
    ])
    const quick = sampleTool('quick', () => 'quick result')
    const runner = new TurnRunner({ model, tools: [slow(() => done.promise), quick], store })
    const handle = runner.run({ conversation: 'k', message: 'Go.' })
    await expect.poll(() => model.requests.length).toBe(3)
    expect(await records(store)).toMatchObject([{ id: 'c2' }])
    done.resolve('slow result')
    const outcome = await handle
    expect(outcome).toMatchObject({ status: 'completed', text: 'All done.' })
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'ok' }, { id: 'c2' }])
    const [, second, , last] = model.requests.map(({ items }) => items)
    expect(texts(second).join('\n')).toMatch(/started in the background, under the id "c1"/)
    expect(last?.at(-1)).toMatchObject({ type: 'message', role: 'user', resultOf: 'c1' })
    expect(texts(last).join('\n')).toMatch(/"c1" of `slow`.*has ended[^]*<[^>]*c1[^]*slow result/)
    expectGrowth(model.requests)
    await sound(store)
  })

  it('tells each result once, in the order in which they came', async () => {
    const hands = { a: byHand<string>(), b: byHand<string>(), c: byHand<string>() }
    const store = memoryStore()
    const model = scriptedModel([
      [call('a'), call('b'), call('c')],
      [{ text: 'I wait.' }],
      [{ text: 'Done.' }],
    ])
    const tool = slow(({ q }) => hands[q as 'a'].promise)
    const runner = new TurnRunner({ model, tools: [tool], store, concurrency: 1 })
    const handle = runner.run({ conversation: 'k', message: 'Go.' })
    await expect.poll(() => model.requests.length).toBe(2)
    for (const name of ['b', 'c', 'a'] as const) {
      hands[name].resolve(`result ${name}`)
      await expect.poll(async () => (await records(store)).at(-1)?.id).toBe(name)
    }
    await handle
    const brought = model.requests
      .at(-1)
      ?.items.flatMap((item) => ('resultOf' in item ? item.resultOf : []))
    expect(brought).toEqual(['b', 'c', 'a'])
    expectGrowth(model.requests)
  })

  it('may end before its receipt was sent: the next request has both', async () => {
    const store = memoryStore()
    const model = scriptedModel([[call('c1'), { call: 'after', args: {} }], [{ text: 'Done.' }]])
    const after = sampleTool('after', async () => {
      await expect.poll(async () => (await records(store)).length).toBe(1)
      return 'x'
    })
    const runner = new TurnRunner({ model, tools: [slow(() => 'at once'), after], store })
    expect((await runner.run({ conversation: 'k', message: 'Go.' })).text).toBe('Done.')
    expect(model.requests).toHaveLength(2)
    const shown = texts(model.requests[1]?.items).join('\n')
    expect(shown.match(/started in the background/g)).toHaveLength(2)
    expect(shown.match(/at once/g)).toHaveLength(1)
  })

  it('tells the model of a failure too', async () => {
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Sorry.' }]])
    const tool = slow(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      throw new Error('no paper')
    })
    const runner = new TurnRunner({ model, tools: [tool] })
    const { toolCalls } = await runner.run({ message: 'Go.' })
    expect(toolCalls).toMatchObject([{ settlement: 'failed' }])
    expect(texts(model.requests.at(-1)?.items).join('\n')).toContain('no paper')
  })

  it('has its own time limit only', async () => {
    const wait = () => new Promise<string>((resolve) => setTimeout(() => resolve('late'), 80))
    const run = async (more: Partial<ToolOptions>) => {
      const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Ok.' }]])
      const tool = slow(wait, { effect: 'idempotent', ...more })
      const runner = new TurnRunner({ model, tools: [tool], timeoutMs: 20 })
      return (await runner.run({ message: 'Go.' })).toolCalls[0]?.settlement
    }
    expect([await run({}), await run({ timeoutMs: 20 })]).toEqual(['ok', 'timed-out'])
  })

  it('is in the feed as announcement, progress and completion, live and replayed', async () => {
    const done = byHand<string>()
    const store = memoryStore()
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Ok.' }]])
    const tool = slow(async (_, ctx) => {
      await expect.poll(() => model.requests.length).toBe(2)
      ctx.progress({ half: true })
      return done.promise
    })
    const runner = new TurnRunner({ model, tools: [tool], store })
    const live: FeedEvent[] = []
    const handle = runner.run({ conversation: 'k', message: 'Go.' })
    runner.observe('toolProgress', () => done.resolve('x'))
    for await (const event of handle) live.push(event)
    const told = live.flatMap((event): readonly unknown[] => {
      if (event.type === 'toolCall') return [event.isComplete]
      return event.type === 'progress' ? ['progress'] : []
    })
    expect(told).toEqual([false, 'progress', true])
    const replayed: FeedEvent[] = []
    for await (const event of runner.follow({ conversation: 'k' })) replayed.push(event)
    const durable = live.filter(({ position }) => position.endsWith('.0'))
    expect(JSON.stringify(replayed)).toBe(JSON.stringify(durable))
  })

  it('is shown the same after a restart, and in the next turn', async () => {
    const store = memoryStore()
    const first = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Ok.' }]])
    const tools = [slow(() => 'result')]
    await new TurnRunner({ model: first, tools, store }).run({ conversation: 'k', message: 'Go.' })
    const second = scriptedModel([[{ text: 'Yes.' }]])
    await new TurnRunner({ model: second, tools, store }).run({
      conversation: 'k',
      message: 'Sure?',
    })
    expectGrowth([...first.requests, ...second.requests])
  })

  it('hints at repeats in its receipt', async () => {
    const model = scriptedModel([
      ...['a', 'b', 'c'].map((id) => [call(id, 'same')]),
      [{ text: 'Hm.' }],
      [{ text: 'Ok.' }],
    ])
    const runner = new TurnRunner({ model, tools: [slow(() => 'x')], policy: 'open' })
    await runner.run({ message: 'Go.' })
    expectGrowth(model.requests)
    expect(texts(model.requests.at(-1)?.items).join('\n')).toMatch(/3 times|third/)
  })

  it('can be read as a handle', async () => {
    const model = scriptedModel([
      [call('c1')],
      [{ text: 'Hm.' }],
      [{ call: 'artifact_head', args: { callId: 'c1', n: 1 } }],
      [{ text: 'Ok.' }],
    ])
    const tool = slow(
      async () => {
        await expect.poll(() => model.requests.length).toBe(2)
        return 'first line\nsecond line'
      },
      { inline: false },
    )
    const runner = new TurnRunner({ model, tools: [tool] })
    const { toolCalls } = await runner.run({ message: 'Go.' })
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['ok', 'ok'])
    expect(texts(model.requests.at(-1)?.items).join('\n')).toContain('first line')
  })

  it('waits for its approval first, and runs with edited arguments', async () => {
    const seen: unknown[] = []
    const store = memoryStore()
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Ok.' }]])
    const tool = slow(
      async ({ q }) => {
        seen.push(q)
        await expect.poll(() => model.requests.length).toBe(2)
        return 'result'
      },
      { approval: true },
    )
    const runner = new TurnRunner({ model, tools: [tool], store })
    const { gates } = await runner.run({ conversation: 'k', message: 'Go.' })
    const yes = { gate: gates[0]?.id ?? '', decidedBy: 'ann', approve: true, args: { q: 'other' } }
    const outcome = await runner.resume({ conversation: 'k', decisions: [yes] })
    expect([outcome.status, seen]).toEqual(['completed', ['other']])
    expect(await records(store)).toMatchObject([
      { id: 'c1', settlement: 'edited' },
      { editOf: 'c1', settlement: 'ok' },
    ])
    expect(texts(model.requests.at(-1)?.items).join('\n')).toMatch(/A person changed the arguments/)
    expectGrowth(model.requests)
    await sound(store)
  })

  it('may ask a person: the turn is suspended after the answer of the model', async () => {
    const store = memoryStore()
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Ok.' }]])
    const tool = slow(async (_, { input }) => {
      if (input !== undefined) return 'booked'
      await expect.poll(() => model.requests.length).toBe(2)
      return inputRequired({ message: 'Sure?', schema: z.object({}) })
    })
    const runner = new TurnRunner({ model, tools: [tool], store })
    const first = await runner.run({ conversation: 'k', message: 'Go.' })
    expect(first).toMatchObject({ status: 'suspended', gates: [{ kind: 'input' }] })
    const decisions = [{ gate: first.gates[0]?.id ?? '', decidedBy: 'ann', value: {} }]
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', text: 'Ok.' })
    expect(texts(model.requests.at(-1)?.items).join('\n')).toContain('booked')
    expectGrowth(model.requests)
  })

  it.each([
    ['exclusive', { exclusive: true }],
    ['external', { external: true, handler: undefined }],
  ])('is refused beside `%s`', (_, more) => {
    const options = {
      name: 'x',
      description: 'x',
      inputSchema: z.object({}),
      handler: () => 'x',
      background: true,
      ...more,
    }
    expect(() => new Tool(options as never)).toThrow(/`Tool.background` must be absent with/)
  })
})

describe('a turn with background calls', () => {
  it.each([
    ['write', 'in-doubt'],
    ['idempotent', 'aborted'],
  ] as const)('is stopped while it waits: a %s ends %s', async (effect, settlement) => {
    const store = memoryStore()
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }], [{ text: 'Ok.' }]])
    const tool = slow(() => new Promise<string>(() => {}), { effect })
    const runner = new TurnRunner({ model, tools: [tool], store })
    const handle = runner.run({ conversation: 'k', message: 'Go.' })
    await expect.poll(() => model.requests.length).toBe(2)
    await runner.stop({ conversation: 'k' })
    const outcome = await handle
    expect(outcome).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement }])
    const next = scriptedModel([[{ text: 'Yes.' }]])
    await new TurnRunner({ model: next, tools: [tool], store }).run({
      conversation: 'k',
      message: 'Well?',
    })
    const items = next.requests[0]?.items ?? []
    expect(items.map((item) => ('resultOf' in item ? 'result' : item.type))).toEqual([
      'message',
      'call',
      'message',
      'result',
      'message',
    ])
    await sound(store)
  })

  it('waits for them at a limit, keeps what they gave, and tells it in the next turn', async () => {
    const store = memoryStore()
    const done = byHand<string>()
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }]])
    const tools = [slow(() => done.promise)]
    const runner = new TurnRunner({ model, tools, store, limits: { iterations: 1 } })
    const handle = runner.run({ conversation: 'k', message: 'Go.' })
    setTimeout(() => done.resolve('late result'), 30)
    const outcome = await handle
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_ITERATIONS' } })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'ok' }])
    const next = scriptedModel([[{ text: 'Yes.' }]])
    await new TurnRunner({ model: next, tools, store }).run({ conversation: 'k', message: 'Well?' })
    expect(texts(next.requests[0]?.items).join('\n')).toContain('late result')
  })

  it('ends them when its own time is over', async () => {
    const model = scriptedModel([[call('c1')], [{ text: 'Hm.' }]])
    const tool = slow(() => new Promise<string>(() => {}))
    const runner = new TurnRunner({ model, tools: [tool], limits: { timeMs: 100 } })
    const outcome = await runner.run({ message: 'Go.' })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_TIME' } })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'in-doubt' }])
  })

  it('waits for them when the model fails', async () => {
    const store = memoryStore()
    const done = byHand<string>()
    const model = scriptedModel([[call('c1')]])
    const tools = [slow(() => done.promise)]
    const handle = new TurnRunner({ model, tools, store }).run({
      conversation: 'k',
      message: 'Go.',
    })
    setTimeout(() => done.resolve('late result'), 30)
    const outcome = await handle
    expect([outcome.status, outcome.toolCalls[0]?.settlement]).toEqual(['failed', 'ok'])
  })

  it('is busy while it only waits, and takes a message that steers it', async () => {
    const store = memoryStore()
    const done = byHand<string>()
    const model = scriptedModel([
      [call('c1')],
      [{ text: 'I wait.' }],
      [{ text: 'I heard.' }],
      [{ text: 'Done.' }],
      [{ text: 'Queued.' }],
    ])
    const runner = new TurnRunner({ model, tools: [slow(() => done.promise)], store })
    const handle = runner.run({ conversation: 'k', message: 'Go.' })
    await expect.poll(() => model.requests.length).toBe(2)
    await expect(runner.run({ conversation: 'k', message: 'Hey!' })).rejects.toMatchObject({
      code: 'E_CONVERSATION_BUSY',
    })
    const steered = runner.run({ conversation: 'k', message: 'Hey!', whenBusy: 'steer' })
    await expect.poll(() => model.requests.length, { timeout: 5_000 }).toBe(3)
    const queued = runner.run({ conversation: 'k', message: 'Then?', whenBusy: 'queue' })
    done.resolve('slow result')
    expect((await handle).text).toBe('Done.')
    expect((await steered).text).toBe('Done.')
    expect((await queued).text).toBe('Queued.')
    expectGrowth(model.requests)
  })

  it.each([
    ['write', 'in-doubt', 1],
    ['idempotent', 'ok', 2],
    ['read', 'ok', 2],
  ] as const)('recovers a %s whose process died as %s', async (effect, settlement, runs) => {
    const store = memoryStore()
    let ran = 0
    const tool = slow(
      () => {
        ran++
        return ran === 1 ? new Promise<string>(() => {}) : 'result'
      },
      { effect },
    )
    const model = scriptedModel([[call('c1')], [{ text: 'I wait.' }]])
    const first = new TurnRunner({ model, tools: [tool], store })
    void first.run({ conversation: 'k', message: 'Go.' }).then(undefined, () => {})
    await expect.poll(() => model.requests.length).toBe(2)
    const again = scriptedModel([[{ text: 'Done.' }]])
    const second = new TurnRunner({ model: again, tools: [tool], store })
    const outcome = await second.recover({ conversation: 'k', force: true })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ id: 'c1', settlement }] })
    expect(ran).toBe(runs)
    const last = again.requests.at(-1)?.items ?? []
    expect(last.filter((item) => 'resultOf' in item)).toHaveLength(1)
    expect(last.filter((item) => item.type === 'call' && item.background)).toHaveLength(1)
    expectGrowth([...model.requests, ...again.requests])
    await sound(store)
  })

  it('is never cut in two by a summary: a receipt stays until its result is shown', async () => {
    const done = byHand<string>()
    const looks = Array.from({ length: 12 }, (_, at) => [{ call: 'look', args: { q: `${at}` } }])
    const model = scriptedModel([
      [{ call: 'look', args: { q: 'first' } }],
      [call('c1')],
      ...looks,
      [{ text: 'I wait.' }],
      [{ text: 'Done.' }],
      ...looks,
      [{ text: 'Looked.' }],
    ])
    let summaries = 0
    const runner = new TurnRunner({
      model,
      store: memoryStore(),
      tools: [slow(() => done.promise), sampleTool('look', () => 'word '.repeat(60))],
      policy: 'open',
      compact: { at: 900, keepTurns: 1, summarise: () => `Summary ${++summaries}.` },
    })
    const first = runner.run({ conversation: 'k', message: 'Go.' })
    await expect.poll(() => model.requests.length, { timeout: 5_000 }).toBe(15)
    done.resolve('slow result')
    expect((await first).text).toBe('Done.')
    await runner.run({ conversation: 'k', message: 'Look again.' })
    const shown = model.requests.map(({ items }) => {
      const receipts = items.filter((item) => item.type === 'call' && item.background).length
      return `${receipts} ${items.filter((item) => 'resultOf' in item).length}`
    })
    expect(summaries).toBeGreaterThan(0)
    expect(shown.slice(2, 15)).toEqual(Array(13).fill('1 0'))
    expect(shown[15]).toBe('1 1')
    expect(new Set(shown.slice(16))).toEqual(new Set(['0 0']))
  })
})
