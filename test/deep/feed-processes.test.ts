import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalStringify } from '../../src/core/json/canonical.ts'
import type { FeedEvent } from '../../src/store/feed/feed-event.ts'
import { followConversation } from '../../src/store/feed/follow-conversation.ts'
import { comparePositions } from '../../src/store/position.ts'
import type { Store } from '../../src/store/store.ts'
import { type BundledProcess, bundledProcess } from '../crash/bundled-process.ts'
import { type StorePlace, storeAt } from '../crash/store-at.ts'
import { FeedState } from '../feed-state.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'

let folder = ''
let server: EmbeddedServer
let streaming: BundledProcess
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-feed-'))
  server = await embeddedServer()
  streaming = await bundledProcess('streaming-process')
}, 60_000)
afterAll(async () => {
  streaming.remove()
  await server.remove()
  rmSync(folder, { recursive: true })
})

const PLACES: readonly [string, () => StorePlace][] = [
  ['SQLite', () => ({ path: join(mkdtempSync(join(folder, 'db-')), 'a.db') })],
  [
    'PostgreSQL',
    () => ({
      url: server.url,
      schema: `f${Date.now() % 1e9}`,
      spool: mkdtempSync(join(folder, 's-')),
    }),
  ],
]

const isDurable = ({ position }: FeedEvent) => position.endsWith('.0')
const textOf = (event: FeedEvent) => canonicalStringify(JSON.parse(JSON.stringify(event)))

/** A reader that stays until the conversation has had so many ends of turns. */
async function stay(store: Store, ends: number): Promise<readonly FeedEvent[]> {
  const events: FeedEvent[] = []
  let left = ends
  for await (const event of followConversation(store, { conversation: 'c', live: true })) {
    events.push(event)
    if (event.type === 'turnEnd' && --left === 0) return events
  }
  return events
}

/** A reader that leaves at every event and comes back with its last position. */
async function hop(store: Store, ends: number): Promise<readonly FeedEvent[]> {
  const events: FeedEvent[] = []
  for (let left = ends; left > 0; ) {
    const after = events.at(-1)?.position
    const input = { conversation: 'c', live: true, ...(after !== undefined && { after }) }
    const following = followConversation(store, input)
    const { value } = await following.next()
    await following.return?.()
    if (value === undefined) return events
    events.push(value)
    if (value.type === 'turnEnd') left--
  }
  return events
}

/** What a reader knew after each stored event. */
function states(events: readonly FeedEvent[]): ReadonlyMap<string, string> {
  const state = new FeedState()
  const known = new Map<string, string>()
  for (const event of events) {
    state.apply(event)
    // Progress is not stored: a reader that was away at the time does not know it.
    const { calls: _, ...rest } = JSON.parse(JSON.stringify(state)) as { calls: unknown }
    if (isDurable(event)) known.set(event.position, JSON.stringify(rest))
  }
  return known
}

function judge(all: readonly (readonly FeedEvent[])[], truth: readonly FeedEvent[]): void {
  for (const events of all) {
    const places = events.map(({ position }) => position)
    expect(places.toSorted(comparePositions)).toEqual(places)
    expect(new Set(places).size).toBe(places.length)
    expect(events.filter(isDurable).map(textOf)).toEqual(truth.map(textOf))
    expect([...states(events)]).toEqual([...states(truth)])
  }
}

const streamedText = (events: readonly FeedEvent[]) =>
  events.filter((event) => event.type === 'message' && event.delta !== undefined).length

describe.each(PLACES)('readers of a turn in another process, on %s,', (_, placeOf) => {
  it('see all that is stored once and in order, and what streams', {
    timeout: 60_000,
  }, async () => {
    const place = placeOf()
    const [first, second] = [storeAt(place), storeAt(place)]
    const reading = Promise.all([stay(first, 1), hop(second, 1)])
    const { end, errors } = await streaming.start({ place, do: 'run', rounds: 3 })
    expect({ end, errors }).toEqual({ end: 0, errors: '' })
    const all = await reading
    const truth: FeedEvent[] = []
    for await (const event of followConversation(first, { conversation: 'c' })) truth.push(event)
    judge(all, truth)
    expect(streamedText(all[0])).toBeGreaterThan(20)
    await Promise.all([first.close(), second.close()])
  })

  it('learn that the process was killed, and see the turn continue', {
    timeout: 60_000,
  }, async () => {
    const place = placeOf()
    const [first, second] = [storeAt(place), storeAt(place)]
    const reading = Promise.all([stay(first, 1), hop(second, 1)])
    const killed = await streaming.start({ place, do: 'run', rounds: 3, dieIn: 2 })
    expect(killed.end).toBe('SIGKILL')
    // A reader that does not stay ends when the lease is over.
    const lost: FeedEvent[] = []
    for await (const event of followConversation(first, { conversation: 'c' })) lost.push(event)
    expect(lost.at(-1)).toMatchObject({ type: 'warning', code: 'TURN_LOST' })
    // Readers that stay look once a second.
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    const { end, errors } = await streaming.start({ place, do: 'recover', rounds: 1 })
    expect({ end, errors }).toEqual({ end: 0, errors: '' })
    const all = await reading
    const truth: FeedEvent[] = []
    for await (const event of followConversation(first, { conversation: 'c' })) truth.push(event)
    judge(all, truth)
    for (const events of all) {
      expect(events.some((event) => event.type === 'warning' && event.code === 'TURN_LOST')).toBe(
        true,
      )
    }
    await Promise.all([first.close(), second.close()])
  })
})
