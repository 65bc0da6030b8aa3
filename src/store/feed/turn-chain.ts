import type { Entry } from '../entry.ts'
import type { RunnerStore } from '../store.ts'

/** A turn without an end, whether its process lives or not. */
export interface RunningTurn {
  readonly turnId: string
  /** The first turn of its chain of continuations. */
  readonly first: string
  /** Whether a turn belongs to the same chain of continuations. */
  isOfChain(turnId: string): Promise<boolean>
}

const STEP = 64

/** The last turn of a conversation if it has no end; undefined if nothing runs. */
export async function runningTurn(
  store: RunnerStore,
  conversation: string,
): Promise<RunningTurn | undefined> {
  const info = await store.conversation(conversation)
  const last = info && (await lastBoundary(store, conversation, info.length))
  if (last?.kind !== 'turn-start') return undefined
  const { turnId, data } = last
  const first = data.continues ?? turnId
  return {
    turnId,
    first,
    async isOfChain(other) {
      if (other === turnId || other === first) return true
      return (await firstOf(store, conversation, other)) === first
    },
  }
}

/** The first turn of the chain of a turn. */
async function firstOf(store: RunnerStore, conversation: string, turnId: string): Promise<string> {
  const start = await store.get(conversation, 'turn-start', turnId)
  return start?.data.continues ?? turnId
}

/** The last entry that begins or ends a turn. Most are near the end of the log. */
async function lastBoundary(
  store: RunnerStore,
  conversation: string,
  length: number,
): Promise<(Entry & { readonly kind: 'turn-start' | 'turn-end' }) | undefined> {
  for (let to = length, step = STEP; to > 0; step *= 4) {
    const from = Math.max(1, to - step + 1)
    let found: (Entry & { readonly kind: 'turn-start' | 'turn-end' }) | undefined
    for await (const entry of store.entries(conversation, { from })) {
      if (entry.seq > to) break
      if (entry.kind === 'turn-start' || entry.kind === 'turn-end') found = entry
    }
    if (found !== undefined) return found
    to = from - 1
  }
  return undefined
}
