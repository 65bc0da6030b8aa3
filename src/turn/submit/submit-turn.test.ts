import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { TurnHandle } from '../turn-handle.ts'
import { TurnRunner } from '../turn-runner.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-submit-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

/** Two stores on the same data, as two processes have them. */
const PAIRS: readonly [string, () => readonly [Store, Store]][] = [
  [
    'one store object',
    () => {
      const store = memoryStore()
      return [store, store]
    },
  ],
  [
    'two connections to a SQLite file',
    () => {
      const path = join(folder, `${files++}.db`)
      return [sqliteStore(path), sqliteStore(path)]
    },
  ],
]

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function read(handle: TurnHandle): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for await (const event of handle) events.push(event)
  return events
}

const typesOf = (events: readonly FeedEvent[]) => [...new Set(events.map(({ type }) => type))]

/** A runner whose first answer waits until it is let go; each answer counts. */
function waiting(store: Store) {
  const go = byHand()
  const begun = byHand()
  const asked: string[][] = []
  const runner = new TurnRunner({
    store,
    executor: async (ctx) => {
      asked.push(
        ctx.items.flatMap((item) =>
          item.type === 'message' && item.role === 'user'
            ? item.parts.map((part) => (part.type === 'text' ? part.text : ''))
            : [],
        ),
      )
      begun.resolve()
      if (asked.length === 1) await go.promise
      return { answer: `answer ${asked.length}` }
    },
  })
  return { runner, asked, begun: begun.promise, go: () => go.resolve() }
}

describe.concurrent.each(PAIRS)('the same turnId, with %s,', (_, open) => {
  it('joins the turn that runs, and gives the outcome of one that has ended', async () => {
    const [store, other] = open()
    const { runner, begun, go } = waiting(store)
    const second = new TurnRunner({ store: other, model: scriptedModel([]) })
    const input = { conversation: 'c', turnId: 't', message: 'go' }
    const first = runner.run(input)
    await begun
    const joined = second.run(input)
    const events = read(joined)
    await sleep(200)
    go()
    const outcome = await first
    expect(outcome).toMatchObject({ status: 'completed', text: 'answer 1', turnId: 't' })
    expect(await joined).toEqual(outcome)
    expect(typesOf(await events)).toEqual(['turnStart', 'message', 'turnEnd'])
    const later = second.run(input)
    expect(await later).toEqual(outcome)
    expect(typesOf(await read(later))).toEqual(['turnStart', 'message', 'turnEnd'])
    expect(await store.count({ kind: 'turn-start' })).toBe(1)
    await Promise.all([store.close(), other.close()])
  })

  it('runs once, however often it is sent at once', async () => {
    const [store, other] = open()
    const runners = [store, other].map(
      (each) =>
        new TurnRunner({
          store: each,
          executor: async () => {
            await sleep(30)
            return { answer: 'once' }
          },
        }),
    )
    const input = { conversation: 'c', turnId: 't', message: 'go' }
    const runs = Array.from({ length: 100 }, (_each, n) => runners[n % 2] as TurnRunner)
    const outcomes = await Promise.all(runs.map((runner) => runner.run(input)))
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    expect(await store.count({ kind: 'turn-start' })).toBe(1)
    expect(await store.count({ kind: 'message' })).toBe(2)
    await Promise.all([store.close(), other.close()])
  })

  it('is refused with another input', async () => {
    const [store, other] = open()
    const runner = new TurnRunner({ store, model: scriptedModel([[{ text: 'x' }]]) })
    await runner.run({ conversation: 'c', turnId: 't', message: 'go' })
    const second = new TurnRunner({ store: other, model: scriptedModel([]) })
    const conflict = second.run({ conversation: 'c', turnId: 't', message: 'stop' })
    await expect(conflict).rejects.toMatchObject({ code: 'E_TURN_CONFLICT', data: { turnId: 't' } })
    await Promise.all([store.close(), other.close()])
  })

  it('gives a suspended turn, abandons no gate, and then the outcome of its continuation', async () => {
    const [store, other] = open()
    const tools = [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })]
    const model = scriptedModel([[{ call: 'pay', id: 'p' }], [{ text: 'done' }]])
    const runner = new TurnRunner({ store, tools, model })
    const input = { conversation: 'c', turnId: 't', message: 'go' }
    const { gates } = await runner.run(input)
    const second = new TurnRunner({ store: other, tools, model: scriptedModel([]) })
    expect(await second.run(input)).toMatchObject({ status: 'suspended', gates })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const resumed = await runner.resume({ conversation: 'c', decisions })
    expect(await second.run(input)).toMatchObject({
      status: 'completed',
      text: 'done',
      turnId: resumed.turnId,
    })
    const [start] = (await store.find({ kind: 'turn-start', turnId: resumed.turnId })).entries
    expect(start?.entry.data).toMatchObject({ input: 'resume', continues: 't' })
    await Promise.all([store.close(), other.close()])
  })

  it('recovers what a dead process left', async () => {
    const [store, other] = open()
    const { runner, begun } = waiting(store)
    const input = { conversation: 'c', turnId: 't', message: 'go' }
    void runner.run(input)
    await begun
    const { epoch = 0 } = (await store.conversation('c')) ?? {}
    // As if its process had died, and its lease were over.
    await store.release('c', epoch)
    const dead = { ...other }
    const second = new TurnRunner({ store: dead, model: scriptedModel([[{ text: 'again' }]]) })
    expect(await second.run(input)).toMatchObject({ status: 'completed', text: 'again' })
    expect(await store.count({ kind: 'turn-start' })).toBe(2)
    await Promise.all([store.close(), other.close()])
  })
})

describe.concurrent.each(PAIRS)('whenBusy, with %s,', (_, open) => {
  it('refuses by default', async () => {
    const [store, other] = open()
    const { runner, begun, go } = waiting(store)
    const turn = runner.run({ conversation: 'c', message: 'go' })
    await begun
    const second = new TurnRunner({ store: other, model: scriptedModel([]) })
    for (const more of [{}, { turnId: 'x' }, { whenBusy: 'refuse' as const }]) {
      const refused = second.run({ conversation: 'c', message: 'me too', ...more })
      await expect(refused).rejects.toMatchObject({ code: 'E_CONVERSATION_BUSY' })
    }
    go()
    await turn
    await Promise.all([store.close(), other.close()])
  })

  it('queues turns behind the one that runs, in their order', async () => {
    const [store, other] = open()
    const { runner, begun, go } = waiting(store)
    const turn = runner.run({ conversation: 'c', message: 'go' })
    await begun
    const model = scriptedModel([[{ text: 'two' }], [{ text: 'three' }]])
    const second = new TurnRunner({ store: other, model })
    const queue = (message: string) => second.run({ conversation: 'c', message, whenBusy: 'queue' })
    const a = queue('a')
    await sleep(100)
    const b = queue('b')
    const events = read(b)
    await sleep(100)
    expect((await store.feed?.requests('c', 0))?.queued).toHaveLength(2)
    go()
    expect(await turn).toMatchObject({ text: 'answer 1' })
    expect(await a).toMatchObject({ status: 'completed', text: 'two', turnId: a.turnId })
    expect(await b).toMatchObject({ status: 'completed', text: 'three', turnId: b.turnId })
    expect(typesOf(await events)).toEqual(['turnStart', 'message', 'modelCall', 'turnEnd'])
    expect((await store.feed?.requests('c', 0))?.queued).toEqual([])
    await Promise.all([store.close(), other.close()])
  })

  it('steers the turn that runs', async () => {
    const [store, other] = open()
    const { runner, asked, begun, go } = waiting(store)
    const turn = runner.run({ conversation: 'c', message: 'go' })
    const whole = read(turn)
    await begun
    const second = new TurnRunner({ store: other, model: scriptedModel([]) })
    const steered = second.run({ conversation: 'c', message: 'and quickly', whenBusy: 'steer' })
    const events = read(steered)
    // The turn notices messages from elsewhere within a second.
    await sleep(1_200)
    go()
    const outcome = await turn
    expect(outcome).toMatchObject({ status: 'completed', text: 'answer 2' })
    expect(asked).toEqual([['go'], ['go', 'and quickly']])
    expect(await steered).toMatchObject({
      status: 'completed',
      text: 'answer 2',
      turnId: turn.turnId,
    })
    const said = (list: readonly FeedEvent[]) =>
      list.flatMap((event) => (event.type === 'message' ? (event.text ?? []) : []))
    expect(said(await whole)).toEqual(['go', 'answer 1', 'and quickly', 'answer 2'])
    expect(said(await events)).toEqual(['and quickly', 'answer 2'])
    expect((await store.feed?.requests('c', 0))?.queued).toEqual([])
    // A client that did not get the answer sends the same message again.
    const { turnId } = steered
    const again = { conversation: 'c', message: 'and quickly', turnId } as const
    for (const whenBusy of ['steer', 'queue', 'refuse'] as const) {
      const repeated = await runner.run({ ...again, whenBusy })
      expect(repeated).toMatchObject({ text: 'answer 2', turnId: turn.turnId })
    }
    const conflict = runner.run({ ...again, message: 'and slowly' })
    await expect(conflict).rejects.toMatchObject({ code: 'E_TURN_CONFLICT' })
    expect(asked).toHaveLength(2)
    await Promise.all([store.close(), other.close()])
  })

  it('waits while gates are open, and starts after they are answered', async () => {
    const [store, other] = open()
    const tools = [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })]
    const model = scriptedModel([[{ call: 'pay' }], [{ text: 'done' }]])
    const runner = new TurnRunner({ store, tools, model })
    const { gates } = await runner.run({ conversation: 'c', message: 'go' })
    const second = new TurnRunner({
      store: other,
      tools,
      model: scriptedModel([[{ text: 'next' }]]),
    })
    const queued = second.run({ conversation: 'c', message: 'next', whenBusy: 'queue' })
    await sleep(400)
    expect(await store.openGates('c')).toHaveLength(1)
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    expect(await runner.resume({ conversation: 'c', decisions })).toMatchObject({ text: 'done' })
    expect(await queued).toMatchObject({ status: 'completed', text: 'next' })
    await Promise.all([store.close(), other.close()])
  })

  it('does not bring back a conversation that is deleted while it waits', async () => {
    const [store, other] = open()
    const tools = [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })]
    const model = scriptedModel([[{ call: 'pay' }], [{ text: 'back again' }]])
    const runner = new TurnRunner({ store, tools, model })
    await runner.run({ conversation: 'c', message: 'go' })
    const queued = runner.run({ conversation: 'c', message: 'next', whenBusy: 'queue' })
    const ended = Promise.allSettled([queued])
    await expect.poll(async () => (await store.feed?.requests('c', 0))?.queued.length).toBe(1)
    await other.delete('c')
    expect(await ended).toMatchObject([{ status: 'rejected', reason: { code: 'E_NOT_FOUND' } }])
    expect(await store.conversation('c')).toBeUndefined()
    await Promise.all([store.close(), other.close()])
  })

  it('runs the message of a caller that died, with the next run', async () => {
    const [store, other] = open()
    const model = scriptedModel([[{ text: 'one' }], [{ text: 'two' }], [{ text: 'three' }]])
    const runner = new TurnRunner({ store, model })
    await runner.run({ conversation: 'c', message: 'go' })
    const body = JSON.stringify({ message: 'left behind', attachments: [] })
    await other.feed?.enqueue('c', { turnId: 'dead', mode: 'queue', body, until: 1 }, 100)
    expect(await runner.run({ conversation: 'c', message: 'next' })).toMatchObject({
      text: 'three',
    })
    const starts = await store.find({ kind: 'turn-start' })
    expect(starts.entries[1]?.entry.turnId).toBe('dead')
    expect((await store.feed?.requests('c', 0))?.queued).toEqual([])
    await Promise.all([store.close(), other.close()])
  })

  it('takes no more than a hundred, and lets go of a caller who leaves', async () => {
    const [store, other] = open()
    const { runner, begun, go } = waiting(store)
    const turn = runner.run({ conversation: 'c', message: 'go' })
    await begun
    const row = { mode: 'queue', body: '{}', until: Date.now() + 60_000 } as const
    for (let n = 0; n < 99; n++) await store.feed?.enqueue('c', { turnId: `t${n}`, ...row }, 100)
    const second = new TurnRunner({ store: other, model: scriptedModel([]) })
    const input = { conversation: 'c', message: 'me too', whenBusy: 'queue' } as const
    const last = second.run(input)
    await sleep(150)
    const full = second.run(input)
    await expect(full).rejects.toMatchObject({ code: 'E_QUEUE_FULL', data: { limit: 100 } })
    last.abort()
    expect(await last).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
    expect((await store.feed?.requests('c', 0))?.queued).toHaveLength(99)
    go()
    await turn
    await Promise.all([store.close(), other.close()])
  })
})

describe('a chain of turns', () => {
  it('counts limits over all its turns', async () => {
    const store = memoryStore()
    const tools = [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })]
    const calls = Array.from({ length: 5 }, () => [{ call: 'pay' }])
    const runner = new TurnRunner({
      store,
      tools,
      model: scriptedModel(calls),
      limits: { iterations: 3 },
    })
    let outcome = await runner.run({ conversation: 'c', message: 'go' })
    for (let round = 0; round < 2; round++) {
      const decisions = outcome.gates.map(({ id }) => ({
        gate: id,
        approve: true,
        decidedBy: 'ann',
      }))
      outcome = await runner.resume({ conversation: 'c', decisions })
      expect(outcome.status).toBe('suspended')
    }
    const decisions = outcome.gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    expect(await runner.resume({ conversation: 'c', decisions })).toMatchObject({
      status: 'stopped',
      reason: { code: 'MAX_ITERATIONS' },
    })
  })

  it('obeys a stop that came for a turn whose process died', async () => {
    const store = memoryStore()
    const { runner, begun } = waiting(store)
    const first = runner.run({ conversation: 'c', message: 'go' })
    await begun
    const { epoch = 0 } = (await store.conversation('c')) ?? {}
    await store.release('c', epoch)
    const elsewhere = { ...store }
    const other = new TurnRunner({ store: elsewhere, model: scriptedModel([]) })
    expect(await other.stop({ conversation: 'c' })).toEqual({ turnId: first.turnId })
    expect(await other.recover({ conversation: 'c' })).toMatchObject({
      status: 'aborted',
      reason: { code: 'ABORTED' },
    })
    expect((await store.feed?.requests('c', 0))?.stops).toEqual([])
  })
})

describe('a row of the queue that cannot be read', () => {
  it.each(['{', '[]', '{"message":""}', '{"message":"x","attachments":[{}]}', '{"message":7}'])(
    'is reported and skipped: %s',
    async (body) => {
      const store = memoryStore()
      const { runner, go, begun } = waiting(store)
      const codes: unknown[] = []
      runner.observe('error', ({ error }) => codes.push(Object(error).code))
      const turn = runner.run({ conversation: 'c', message: 'go' })
      await begun
      const row = { turnId: 'bad', body, until: 0 }
      await store.feed?.enqueue('c', { ...row, mode: 'steer' }, 100)
      await store.feed?.enqueue('c', { ...row, turnId: 'worse', mode: 'queue' }, 100)
      const steered = runner.run({ conversation: 'c', message: 'quickly', whenBusy: 'steer' })
      await sleep(20)
      go()
      expect(await turn).toMatchObject({ status: 'completed' })
      await steered
      expect(await runner.run({ conversation: 'c', message: 'more' })).toMatchObject({
        status: 'completed',
      })
      expect(codes).toEqual(['E_STORE_CORRUPT', 'E_STORE_CORRUPT'])
      expect((await store.feed?.requests('c', 0))?.queued).toEqual([])
    },
  )
})
