import type { NewEntry } from '../../src/store/entry.ts'
import type { Store } from '../../src/store/store.ts'
import type { Effect } from '../../src/tools/tool-options.ts'
import { mayRepeat } from '../../src/tools/tool-options.ts'
import type { Life } from './life.ts'

const NOT_RUN = ['refused', 'denied', 'edited', 'abandoned']
const NOT_RUN_OR_GIVEN_UP = [...NOT_RUN, 'aborted', 'timed-out']

/** What really happened in a case, seen from outside: effects, and what was durable at which moment. */
export class Ledger {
  /** What does not hold. */
  readonly faults: string[] = []
  /** How each record settled, by conversation and id. */
  readonly settled = new Map<string, string>()
  /** The calls of each conversation in the order asked. */
  readonly asked = new Map<string, string[]>()
  /** The bodies of requests that were made, by their digests. */
  readonly bodies = new Map<string, string>()
  /** The requests that were rebuilt from the log. */
  readonly proven = new Set<string>()
  readonly #intents = new Set<string>()
  readonly #starts = new Map<string, number>()
  /** Calls that ran and must not repeat. */
  readonly #onceOnly = new Set<string>()
  readonly #effects = new Map<string, number>()

  check(holds: boolean, fault: string): void {
    if (!holds) this.faults.push(fault)
  }

  /** Whether the call took effect. */
  happened = (key: string): boolean => this.#effects.has(key)

  /** Takes note of what an append made durable. */
  onAppend(conversation: string, entries: readonly NewEntry[]): void {
    for (const { kind, data } of entries) {
      const { id } = data as { readonly id: string }
      const key = `${conversation}/${id}`
      if (kind === 'intent') this.#intents.add(key)
      if (kind === 'history-item' && data.type === 'call') {
        this.asked.set(conversation, [...(this.asked.get(conversation) ?? []), id])
      }
      if (kind !== 'settlement') continue
      this.check(!this.settled.has(key), `${key} settled twice`)
      const { settlement = '' } = data as { readonly settlement?: string }
      this.settled.set(key, settlement)
      this.#checkHonest(key, settlement)
    }
  }

  /** What has run is not called a call that did not; what may have taken effect is not called aborted. */
  #checkHonest(key: string, settlement: string): void {
    const mayHide = this.#onceOnly.has(key) ? NOT_RUN_OR_GIVEN_UP : NOT_RUN
    // Nobody can know that a call without an intent, a `read`, was begun.
    const hasRun = this.#starts.has(key) && this.#intents.has(key)
    const isHidden = hasRun && mayHide.includes(settlement)
    this.check(!isHidden, `${key} has run and is ${settlement}`)
  }

  /** A handler starts: may it? */
  onStart(
    life: Life,
    tool: { name: string; effect?: Effect | undefined; isTraced: boolean },
    key: string,
  ): void {
    const what = `${tool.name} (${key})`
    const starts = (this.#starts.get(key) ?? 0) + 1
    this.#starts.set(key, starts)
    this.check(!life.abort.signal.aborted, `${what} started after the abort`)
    const isKnown = this.#intents.has(key) || life.struck === 'delete'
    this.check(tool.effect === 'read' || isKnown, `${what} started without its intent`)
    const isRaced = life.isRivalled && mayRepeat(tool.effect)
    this.check(!this.settled.has(key) || isRaced, `${what} started although it is settled`)
    const isOnce = !mayRepeat(tool.effect) && !tool.isTraced
    if (isOnce) this.#onceOnly.add(key)
    this.check(!isOnce || starts === 1, `${what} started ${starts} times`)
  }

  /** The call takes effect. */
  onEffect(key: string): void {
    this.#effects.set(key, (this.#effects.get(key) ?? 0) + 1)
  }

  /** A conversation was deleted: its name may be used anew. */
  forget(conversation: string): void {
    const isOf = (key: string) => key === conversation || key.startsWith(`${conversation}/`)
    for (const map of [this.settled, this.asked, this.#starts, this.#effects]) {
      for (const key of [...map.keys()]) if (isOf(key)) map.delete(key)
    }
    for (const set of [this.#intents, this.#onceOnly]) {
      for (const key of [...set]) if (isOf(key)) set.delete(key)
    }
  }
}

/** The conversations whose names begin so. */
export async function conversationsOf(store: Store, prefix: string): Promise<readonly string[]> {
  const found: string[] = []
  let after: string | undefined = prefix
  for (;;) {
    const page = await store.conversations({ after, limit: 100 })
    for (const { id } of page) if (id.startsWith(prefix)) found.push(id)
    after = page.at(-1)?.id
    if (after === undefined || !after.startsWith(prefix)) return found
  }
}
