import { describe, expect, it } from 'vitest'
import type { FeedEvent } from '../src/store/feed/feed-event.ts'
import { followConversation } from '../src/store/feed/follow-conversation.ts'
import { stopTurn } from '../src/store/feed/stop-turn.ts'
import { comparePositions } from '../src/store/position.ts'
import type { Store } from '../src/store/store.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { FeedState } from './feed-state.ts'
import { byHand, sampleTool } from './turn-samples.ts'

/** Two stores as two processes have them. */
export interface StorePair {
  readonly name: string
  readonly open: () => Promise<readonly [Store, Store]>
  readonly isOneProcess?: boolean
  readonly isPolled?: boolean
  /** What a turn has left beside the database of a store. */
  readonly leftovers?: (store: Store) => readonly string[]
}

const durable = (events: readonly FeedEvent[]) =>
  JSON.stringify(events.filter(({ position }) => position.endsWith('.0')))

const stateOf = (events: readonly FeedEvent[]) => {
  const state = new FeedState()
  for (const event of events) state.apply(event)
  return JSON.stringify(state)
}

async function read(events: AsyncIterable<FeedEvent>, most = Number.POSITIVE_INFINITY) {
  const all: FeedEvent[] = []
  for await (const event of events) if (all.push(event) >= most) break
  return all
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A turn that streams a text piece by piece, with a pause in the middle. */
function slowRunner(store: Store) {
  const middle = byHand()
  const go = byHand()
  const tools = [
    sampleTool('look', (_, ctx) => {
      ctx.progress('half')
      return 'seen'
    }),
  ]
  let round = 0
  const runner = new TurnRunner({
    store,
    tools,
    executor: async (_, { message }) => {
      if (round++ % 2 === 0) return { calls: [{ tool: 'look', args: {} }] }
      for (const delta of ['Hel', 'lo ']) message({ id: 'm', delta })
      middle.resolve()
      await go.promise
      for (const delta of ['yo', 'u']) message({ id: 'm', delta })
      // What streams reaches other processes within a tenth of a second, unless it is stored before.
      await sleep(250)
      return { answer: 'Hello you' }
    },
  })
  return { runner, middle: middle.promise, go: () => go.resolve() }
}

/** What must hold for everybody who follows or stops a turn from another process. */
export function followChecks({
  name,
  open,
  isOneProcess = false,
  isPolled = false,
  leftovers = () => [],
}: StorePair): void {
  describe.concurrent(`followConversation with ${name}`, () => {
    it('replays a conversation that rests', async () => {
      const [store, other] = await open()
      const runner = new TurnRunner({
        store,
        model: scriptedModel([[{ text: 'one' }], [{ text: 'two' }]]),
      })
      const first = await read(runner.run({ conversation: 'c', message: 'go' }))
      const second = await read(runner.run({ conversation: 'c', message: 'again' }))
      const all = await read(followConversation(other, { conversation: 'c' }))
      expect(JSON.stringify(all)).toBe(durable([...first, ...second]))
      const { position: after } = first.at(-1) as FeedEvent
      const rest = await read(followConversation(other, { conversation: 'c', after }))
      expect(JSON.stringify(rest)).toBe(durable(second))
      await Promise.all([store.close(), other.close()])
    })

    it('gives what is open to a reader who comes in the middle, and then what happens', async () => {
      const [store, other] = await open()
      const { runner, middle, go } = slowRunner(store)
      const turn = runner.run({ conversation: 'c', message: 'go' })
      const whole = read(turn)
      await middle
      const following = read(followConversation(other, { conversation: 'c' }))
      // The turn notices readers elsewhere within a second.
      await sleep(isOneProcess ? 20 : 1_300)
      go()
      const events = await following
      expect(durable(events)).toBe(durable(await whole))
      expect(stateOf(events)).toBe(stateOf(await whole))
      const places = events.map(({ position }) => position)
      expect(places.toSorted(comparePositions)).toEqual(places)
      expect(new Set(places).size).toBe(places.length)
      if (!isPolled) {
        const texts = events.flatMap((event) =>
          event.type === 'message' && event.isComplete !== true ? [event.text ?? event.delta] : [],
        )
        expect(texts.join('')).toBe('Hello you')
      }
      await Promise.all([store.close(), other.close()])
    })

    it('stays with `live`, waits for a conversation that does not exist, and is left by its signal', async () => {
      const [store, other] = await open()
      const left = new AbortController()
      const { signal } = left
      const input = { conversation: 'c', live: true, signal }
      const types: string[] = []
      const following = (async () => {
        for await (const { type } of followConversation(other, input)) types.push(type)
      })()
      await sleep(50)
      const model = scriptedModel([[{ text: 'one' }], [{ text: 'two' }]])
      const runner = new TurnRunner({ store, model })
      await runner.run({ conversation: 'c', message: 'go' })
      await runner.run({ conversation: 'c', message: 'go' })
      await expect
        .poll(() => types.filter((type) => type === 'turnEnd').length, { timeout: 5_000 })
        .toBe(2)
      left.abort()
      await following
      await Promise.all([store.close(), other.close()])
    })

    it('reports a turn whose process died, and shows how it continues', async () => {
      const [store, other] = await open()
      const { epoch } = await store.acquire('c', { owner: 'dead', leaseMs: 300 })
      const start = { kind: 'turn-start', turnId: 't', data: { input: 'run' } } as const
      await store.append('c', epoch, [start])
      const events = await read(followConversation(other, { conversation: 'c' }))
      expect(events.map(({ type }) => type)).toEqual(['turnStart', 'warning'])
      expect(events[1]).toMatchObject({ code: 'TURN_LOST', turnId: 't', position: '1.1' })
      const { position: after } = events[1] as FeedEvent
      const runner = new TurnRunner({ store, model: scriptedModel([[{ text: 'one' }]]) })
      await runner.recover({ conversation: 'c' })
      const later = await read(followConversation(other, { conversation: 'c', after }))
      expect(later.map(({ type }) => type)).toEqual(['turnStart', 'turnEnd'])
      await Promise.all([store.close(), other.close()])
    })

    it('refuses what it cannot follow', async () => {
      const [store, other] = await open()
      const follow = (input: object) => read(followConversation(other, input as never))
      await expect(follow({ conversation: 'c' })).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
      const runner = new TurnRunner({ store, model: scriptedModel([[{ text: 'one' }]]) })
      await runner.run({ conversation: 'c', message: 'go' })
      for (const after of [
        '',
        '1',
        '1.',
        '01.0',
        '1.0.0',
        'x',
        '99999999999999999999.0',
        7,
        null,
      ]) {
        const following = follow({ conversation: 'c', after })
        await expect(following).rejects.toMatchObject({ code: 'E_INVALID_POSITION' })
      }
      const future = follow({ conversation: 'c', after: '6.0' })
      await expect(future).rejects.toMatchObject({ code: 'E_INVALID_POSITION' })
      expect(await follow({ conversation: 'c', after: '5.0' })).toEqual([])
      const stray = follow({ conversation: 'c', from: 1 })
      await expect(stray).rejects.toMatchObject({ code: 'E_INVALID_STORE_INPUT' })
      await Promise.all([store.close(), other.close()])
    })

    it('rejects when the conversation is deleted meanwhile', async () => {
      const [store, other] = await open()
      const runner = new TurnRunner({ store, model: scriptedModel([[{ text: 'one' }]]) })
      await runner.run({ conversation: 'c', message: 'go' })
      const events = followConversation(other, { conversation: 'c', live: true })
      for (let n = 0; n < 5; n++) await events.next()
      const next = events.next()
      await store.delete('c')
      await expect(next).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
      await Promise.all([store.close(), other.close()])
    })

    it('can be left while it waits', async () => {
      const [store, other] = await open()
      const { runner, middle, go } = slowRunner(store)
      const turn = runner.run({ conversation: 'c', message: 'go' })
      await middle
      const events = followConversation(other, { conversation: 'c' })
      const seen = (async () => {
        for (;;) if ((await events.next()).done) return 'left'
      })()
      await sleep(30)
      await events.return?.()
      expect(await seen).toBe('left')
      go()
      expect(await turn).toMatchObject({ status: 'completed' })
      await Promise.all([store.close(), other.close()])
    })

    it('leaves nothing behind', async () => {
      const [store, other] = await open()
      const { runner, middle, go } = slowRunner(store)
      const turn = runner.run({ conversation: 'c', message: 'go' })
      await middle
      const following = read(followConversation(other, { conversation: 'c' }))
      await sleep(1_300)
      go()
      await Promise.all([turn, following])
      expect(await store.feed?.requests('c', 0)).toEqual(
        store.feed && { followers: [], stops: [], queued: [] },
      )
      await Promise.all([store.close(), other.close()])
      expect(leftovers(store)).toEqual([])
    })
  })

  describe.concurrent(`stopTurn with ${name}`, () => {
    it('ends the turn that runs, and says which', async () => {
      const [store, other] = await open()
      const { runner, middle, go } = slowRunner(store)
      const turn = runner.run({ conversation: 'c', message: 'go' })
      await middle
      const stopping = stopTurn(other, { conversation: 'c' })
      if (isPolled) {
        await expect(stopping).rejects.toMatchObject({ code: 'E_STORE_UNAVAILABLE' })
        go()
      } else {
        expect(await stopping).toEqual({ turnId: turn.turnId })
        expect(await turn).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
        expect(await store.feed?.requests('c', 0)).toMatchObject({ stops: [] })
      }
      await turn
      expect(await stopTurn(other, { conversation: 'c' })).toBeUndefined()
      await Promise.all([store.close(), other.close()])
    })

    it('does nothing for a turn that does not run', async () => {
      const [store, other] = await open()
      expect(await stopTurn(other, { conversation: 'none' })).toBeUndefined()
      const { runner, middle, go } = slowRunner(store)
      const turn = runner.run({ conversation: 'c', message: 'go' })
      await middle
      expect(await stopTurn(other, { conversation: 'c', turnId: 'another' })).toBeUndefined()
      go()
      expect(await turn).toMatchObject({ status: 'completed' })
      await Promise.all([store.close(), other.close()])
    })
  })
}
