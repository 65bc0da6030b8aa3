import type { Entry, StoredUsage } from '../../store/entry.ts'
import type { ConversationInfo, Store } from '../../store/store.ts'

/** What model calls took. `inputTokens` include those that a cache gave or was given. */
export interface Spending {
  readonly modelCalls: number
  readonly failed: number
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Absent where no model call has a cost: the runner had no price for its model. */
  readonly cost?: number
  /** What sub-agents took in addition; they have conversations of their own. */
  readonly nested?: Spending
}

export const NOTHING_SPENT: Spending = Object.freeze({
  modelCalls: 0,
  failed: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
})

/** The sum of two; without what sub-agents took. */
export function plus(a: Spending, b: Spending): Spending {
  const cost = a.cost === undefined && b.cost === undefined ? undefined : sum(a.cost, b.cost)
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    failed: a.failed + b.failed,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(cost !== undefined && { cost }),
  }
}

const sum = (a = 0, b = 0) => a + b

/**
 * What the model calls of a conversation took, summaries included, without those of its sub-agents, and in a fork without
 * those that its origin made.
 */
export async function spendingOf(
  store: Store,
  { id, origin }: Pick<ConversationInfo, 'id' | 'origin'>,
): Promise<Spending> {
  let total = NOTHING_SPENT
  for await (const entry of spendings(store, id)) {
    if (entry.seq > (origin?.length ?? 0)) total = plus(total, spentIn(entry))
  }
  return total
}

/** What each turn took, with those that continue it, in their order. */
export async function turnsOf(
  store: Store,
  conversation: string,
): Promise<ReadonlyMap<string, Spending>> {
  const firsts = new Map<string, string>()
  const firstOf = async (turnId: string) => {
    const known = firsts.get(turnId)
    if (known !== undefined) return known
    const start = await store.get(conversation, 'turn-start', turnId)
    const first = start?.data.continues ?? turnId
    firsts.set(turnId, first)
    return first
  }
  const turns = new Map<string, Spending>()
  for await (const entry of spendings(store, conversation)) {
    const turnId = await firstOf(entry.turnId)
    turns.set(turnId, plus(turns.get(turnId) ?? NOTHING_SPENT, spentIn(entry)))
  }
  for await (const entry of entriesOf(store, conversation, 'turn-end')) {
    const nested = entry.kind === 'turn-end' ? entry.data.usage?.nested : undefined
    if (nested === undefined) continue
    const turnId = await firstOf(entry.turnId)
    const own = turns.get(turnId) ?? NOTHING_SPENT
    const inside = plus(own.nested ?? NOTHING_SPENT, counted(nested, nested.cost))
    turns.set(turnId, { ...own, nested: inside })
  }
  return turns
}

async function* spendings(store: Store, conversation: string): AsyncGenerator<Entry> {
  yield* entriesOf(store, conversation, 'model-call')
  yield* entriesOf(store, conversation, 'summary')
}

async function* entriesOf(
  store: Store,
  conversation: string,
  kind: Entry['kind'],
): AsyncGenerator<Entry> {
  for (let after: string | undefined; ; ) {
    const query = { conversation, kind, limit: 500, ...(after !== undefined && { after }) }
    const { entries, next } = await store.find(query)
    for (const { entry } of entries) yield entry
    if (next === undefined) return
    after = next
  }
}

function spentIn(entry: Entry): Spending {
  if (entry.kind !== 'model-call' && entry.kind !== 'summary') return NOTHING_SPENT
  // A response in flight has an entry of its own when it has come.
  if (entry.kind === 'model-call' && entry.data.continuation !== undefined) return NOTHING_SPENT
  const { usage, cost } = entry.data
  const isFailed = entry.kind === 'model-call' && entry.data.error !== undefined
  return { ...counted(usage, cost), modelCalls: 1, failed: isFailed ? 1 : 0 }
}

function counted(
  usage: Omit<StoredUsage, 'nested' | 'cost'> | undefined,
  cost: number | undefined,
): Spending {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = usage ?? {}
  const { cacheWriteTokens = 0, reasoningTokens = 0 } = usage ?? {}
  const tokens = { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens }
  return { modelCalls: 0, failed: 0, ...tokens, ...(cost !== undefined && { cost }) }
}
