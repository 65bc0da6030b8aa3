import type { ToolCall } from '../../records/tool-call.ts'
import type { Store } from '../../store/store.ts'
import { storeFailure } from '../limits/failure.ts'
import { entryOf, type Fact } from './fact.ts'
import { LogState } from './log-state.ts'
import type { ResultSpool } from './small-results.ts'

/** Follows a log: it receives facts in order, once they are durable. */
export interface LogFollower {
  apply(facts: readonly Fact[]): void
}

interface LogParts {
  readonly id: string
  readonly epoch: number
  readonly turnId: string
  readonly store: Store
  readonly results: ResultSpool
}

/** The log of a conversation that this turn holds. `commit` is the only way to add to it. */
export class ConversationLog {
  readonly id: string
  readonly epoch: number
  readonly state = new LogState()
  readonly #parts: LogParts
  readonly #followers: LogFollower[] = [this.state]
  #onGates: (facts: readonly Fact[]) => Promise<void> = async () => {}

  constructor(parts: LogParts) {
    this.id = parts.id
    this.epoch = parts.epoch
    this.#parts = parts
  }

  /** Adds a follower for all facts from now on. */
  follow(follower: LogFollower): void {
    this.#followers.push(follower)
  }

  /** Runs `tell` after each commit that opens gates; `commit` waits for it. */
  onGates(tell: (facts: readonly Fact[]) => Promise<void>): void {
    this.#onGates = tell
  }

  /** Gives the followers facts that are in the log already. */
  replay(facts: readonly Fact[]): void {
    for (const follower of this.#followers) follower.apply(facts)
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
    try {
      await store.append(this.id, this.epoch, entries, blobs)
    } catch (error) {
      throw storeFailure(error)
    }
    for (const digest of digests) results.committed(digest)
    this.replay(facts)
    if (facts.some(({ kind }) => kind === 'gate-opened')) await this.#onGates(facts)
  }
}

/** The digests of a call's results, each once. Text has none: it is stored in the record. */
function digestsOf({ results, media = [] }: ToolCall): readonly string[] {
  const beside = media.map((one) => one.media)
  const list = [results, ...beside].flat() as readonly { digest?: string }[]
  return [...new Set(list.flatMap(({ digest }) => digest ?? []))]
}
