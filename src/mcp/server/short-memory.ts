import { systemClock } from '../../core/clock.ts'
import { sweepSpool } from '../../store/audit/sweep-spool.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'

/** How many calls a store in memory remembers. */
const MAX_REMEMBERED = 200
/** Looking for bytes that are not used any more reads all records: once for so many calls. */
const SWEEP_EVERY = 20

/** A store that forgets all but the last calls, and their bytes. */
export function shortMemory() {
  const store = memoryStore()
  const known: string[] = []
  let forgotten = 0
  const forget = async (conversation: string, since: number) => {
    await store.delete(conversation)
    forgotten += 1
    if (forgotten % SWEEP_EVERY === 0) await sweep(store, since)
  }
  return {
    store,
    /** Remembers a call that has ended. What calls have written since a time may have no record yet. */
    remember(conversation: string, since: number): void {
      known.push(conversation)
      const oldest = known.length > MAX_REMEMBERED ? known.shift() : undefined
      if (oldest !== undefined) forget(oldest, since).catch(() => undefined)
    },
  }
}

async function sweep(store: Store, since: number): Promise<void> {
  // A millisecond more, so that what was written in the one of `since` stays.
  await sweepSpool(store, undefined, { graceMs: Math.max(0, systemClock.now() - since) + 1 })
}
