import { canonicalStringify } from '../../src/core/json/canonical.ts'
import { Feed, type FeedSource, feedIteration } from '../../src/store/feed/feed.ts'
import type { FeedEvent } from '../../src/store/feed/feed-event.ts'
import { followFeed, restoreFrom } from '../../src/store/feed/follow.ts'
import { liveFeed } from '../../src/store/feed/live-feed.ts'
import { comparePositions } from '../../src/store/position.ts'
import type { Store } from '../../src/store/store.ts'
import { FeedState } from '../feed-state.ts'
import type { World } from './world.ts'

/** What a reader has seen, and what it knew after each stored event. */
interface Seen {
  readonly name: string
  readonly positions: string[]
  readonly durable: string[]
  readonly states: Map<string, string>
  isAtEnd: boolean
}

const emptySeen = (name: string): Seen => ({
  name,
  positions: [],
  durable: [],
  states: new Map(),
  isAtEnd: false,
})

/** Equal events have equal texts: a live one has its members in another order than a stored one. */
const textOf = (event: FeedEvent) => canonicalStringify(JSON.parse(JSON.stringify(event)))

const isDurable = ({ position }: FeedEvent) => position.endsWith('.0')

/** How long readers may need to come to the end of a turn that has ended. */
const PATIENCE_MS = 2_000

/**
 * Two readers in the process of a turn: one stays, the other leaves at every event and comes back with its last position. Both
 * must see what the log says, once and in order, and know the same after each stored event.
 */
export class Readers {
  readonly #world: World
  readonly #conversation: string
  readonly #stays = emptySeen('the reader that stays')
  readonly #hops = emptySeen('the reader that hops')
  readonly #left = new AbortController()
  #start: number | undefined
  #working: Promise<unknown> = Promise.resolve()

  constructor(world: World, conversation: string) {
    this.#world = world
    this.#conversation = conversation
  }

  /** The process has taken the conversation. The readers look at the log themselves, so that they take no step of the process. */
  begin(process: Store): void {
    if (this.#start !== undefined) return
    this.#start = -1
    this.#working = this.#read(process).catch((error: unknown) => {
      const { code } = Object(error) as { readonly code?: string }
      // Deleted meanwhile, and perhaps begun again.
      if (code !== 'E_NOT_FOUND' && code !== 'E_INVALID_POSITION')
        this.#world.ledger.faults.push(`a reader failed: ${String(error)}`)
    })
  }

  async #read(process: Store): Promise<void> {
    const { store, clock } = this.#world
    const conversation = this.#conversation
    const source: FeedSource = {
      store,
      conversation,
      live: () => liveFeed(process, conversation),
      restore: restoreFrom(store),
      now: () => clock.now(),
    }
    this.#start = (await store.conversation(conversation))?.length ?? 0
    const after = `${this.#start}.0`
    await Promise.all([this.#stay(source, after), this.#hop(source, after)])
  }

  async #stay(source: FeedSource, after: string): Promise<void> {
    const state = new FeedState()
    for await (const event of followFeed(source, { after, live: true }, this.#left.signal)) {
      note(this.#stays, state, event)
    }
  }

  async #hop(source: FeedSource, from: string): Promise<void> {
    const state = new FeedState()
    for (let after = from; !this.#left.signal.aborted; ) {
      const events = feedIteration((signal) => {
        const either = AbortSignal.any([signal, this.#left.signal])
        return followFeed(source, { after, live: true }, either)
      })
      const { done, value } = await events.next()
      await events.return?.()
      if (done) return
      note(this.#hops, state, value)
      after = value.position
    }
  }

  /** Ends the readers and looks at what they saw. `turnId` is that of a turn that has ended and told its end. */
  async end(turnId: string | undefined): Promise<void> {
    if (this.#start === undefined) return
    const both = [this.#stays, this.#hops]
    const until = Date.now() + PATIENCE_MS
    const isAtEnd = () => turnId === undefined || both.every((seen) => seen.isAtEnd)
    while (!isAtEnd() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 1))
    this.#left.abort()
    await this.#working
    const truth = await this.#truth()
    for (const seen of both) this.#judge(seen, truth, turnId)
    for (const [position, state] of this.#hops.states) {
      const other = this.#stays.states.get(position)
      const isSame = other === undefined || other === state
      this.#world.ledger.check(isSame, `at ${position} a reader knows ${state}, another ${other}`)
    }
  }

  async #truth(): Promise<readonly string[] | undefined> {
    const { store, clock } = this.#world
    const conversation = this.#conversation
    const info = await store.conversation(conversation)
    if (info === undefined || info.length < (this.#start ?? 0)) return undefined
    // Nothing is live here: this is the log alone.
    const source: FeedSource = {
      store,
      conversation,
      live: () => liveFeed({}, conversation),
      restore: restoreFrom(store),
      now: () => clock.now(),
    }
    const events: string[] = []
    // Stored entries only: a follower would wait for a process that died to lose its lease.
    const log = new Feed(source, { seq: this.#start ?? 0, n: 0 })
    for await (const event of log.stored()) events.push(textOf(event))
    return events
  }

  #judge(seen: Seen, truth: readonly string[] | undefined, turnId: string | undefined): void {
    const { ledger } = this.#world
    const { name, positions, durable } = seen
    for (let n = 1; n < positions.length; n++) {
      const [before = '', now = ''] = positions.slice(n - 1, n + 1)
      ledger.check(comparePositions(before, now) < 0, `${name} saw ${now} after ${before}`)
    }
    if (truth === undefined) return
    for (const [n, event] of durable.entries()) {
      ledger.check(event === truth[n], `${name} saw ${event} where the log has ${truth[n]}`)
    }
    const isWhole = turnId === undefined || seen.isAtEnd
    ledger.check(isWhole, `${name} did not see the end of ${turnId}: ${positions.join()}`)
  }
}

function note(seen: Seen, state: FeedState, event: FeedEvent): void {
  seen.positions.push(event.position)
  state.apply(event)
  if (!isDurable(event)) return
  seen.durable.push(textOf(event))
  seen.states.set(event.position, JSON.stringify(state))
  if (event.type === 'turnEnd') seen.isAtEnd = true
}
