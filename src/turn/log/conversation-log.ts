import type { ToolCall } from '../../records/tool-call.ts'
import type { NewEntry, Summary } from '../../store/entry.ts'
import type { Appended, RunnerStore } from '../../store/store.ts'
import { askStore, storeFailure } from '../limits/failure.ts'
import { claimBehind } from './claim-behind.ts'
import { entryOf, type Fact } from './fact.ts'
import { LogOrder } from './log-order.ts'
import { LogState } from './log-state.ts'
import type { ResultSpool } from './small-results.ts'

/** Follows a log: it receives facts in order, once they are durable, with the place of the first one in the log. */
export interface LogFollower {
  apply(facts: readonly Fact[], seq: number): void
}

interface LogParts {
  readonly id: string
  readonly epoch: number
  readonly turnId: string
  readonly store: RunnerStore
  readonly results: ResultSpool
  /** Receives entries that are durable, in the order of the log, after the followers. */
  readonly onStored: (entries: readonly NewEntry[], appended: Appended) => void
}

/** The log of a conversation that this turn holds. `commit` is the only way to add to it. */
export class ConversationLog {
  readonly id: string
  readonly epoch: number
  readonly state = new LogState()
  readonly #parts: LogParts
  readonly #followers: LogFollower[] = [this.state]
  readonly #order = new LogOrder()
  /** False if the beginning of the log was not read. */
  #isWhole = true

  constructor(parts: LogParts) {
    this.id = parts.id
    this.epoch = parts.epoch
    this.#parts = parts
  }

  /** Adds a follower for all facts from now on. */
  follow(follower: LogFollower): void {
    this.#followers.push(follower)
  }

  /** How many entries the log has, as far as the followers know. */
  get length(): number {
    return this.#order.length
  }

  /** Gives the followers a fact that is in the log already. */
  replay(fact: Fact, seq: number): void {
    this.#order.length = seq
    this.#apply([fact], seq)
  }

  /** Begins behind what a summary covers: that part is not read. */
  beginBehind({ upTo, trust }: Pick<Summary, 'upTo' | 'trust'>): void {
    this.#isWhole = false
    this.state.beginBehind(upTo, trust)
  }

  /** Gives a call its id: unique in the whole conversation, including the part that this turn did not read. */
  async claimId(given: string): Promise<string> {
    const { ids } = this.state
    if (this.#isWhole) return ids.claim(given)
    const { store } = this.#parts
    return claimBehind(
      ids,
      given,
      async (id) => (await askStore(() => store.get(this.id, 'settlement', id))) !== undefined,
    )
  }

  /** Makes facts durable, all or none, and then gives them to the followers. */
  async commit(facts: readonly Fact[]): Promise<void> {
    if (facts.length === 0) return
    const { store, turnId, results } = this.#parts
    const digests = facts.flatMap((fact) =>
      fact.kind === 'settlement' ? digestsOf(fact.record) : [],
    )
    const blobs = digests.flatMap((digest): Uint8Array[] => {
      const blob = results.uncommitted(digest)
      return blob === undefined ? [] : [blob]
    })
    const entries = facts.map((fact) => entryOf(fact, turnId))
    await this.#order.follow(
      async () => {
        try {
          return await store.append(this.id, this.epoch, entries, blobs)
        } catch (error) {
          throw storeFailure(error)
        }
      },
      entries.length,
      (appended) => {
        for (const digest of digests) results.committed(digest)
        this.#apply(facts, appended.seq)
        this.#parts.onStored(facts.map(toldEntry(entries)), appended)
      },
    )
  }

  #apply(facts: readonly Fact[], seq: number): void {
    for (const follower of this.#followers) follower.apply(facts, seq)
  }
}

/** An entry as listeners receive it: the entry that closes a gate has the decision, which the store adds. */
const toldEntry =
  (entries: readonly NewEntry[]) =>
  (fact: Fact, at: number): NewEntry => {
    const entry = entries[at] as NewEntry
    if (fact.kind === 'gate-closed' && entry.kind === 'gate-closed') {
      return { ...entry, data: fact.closing }
    }
    if (entry.kind !== 'model-call') return entry
    const { parts: _, ...data } = entry.data
    return { ...entry, data }
  }

/** The digests of a call's results, each once. Text has none: it is stored in the record. */
function digestsOf({ results, media = [] }: ToolCall): readonly string[] {
  const beside = media.map((one) => one.media)
  const list = [results, ...beside].flat() as readonly { digest?: string }[]
  return [...new Set(list.flatMap(({ digest }) => digest ?? []))]
}
