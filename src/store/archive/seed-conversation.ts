import { isBobbinError } from '../../core/error/error.ts'
import { isIterable } from '../../core/error/wrong-input.ts'
import { randomId } from '../../core/ids.ts'
import { TRUST_TIERS, type TrustTier } from '../../core/trust.ts'
import { checkItem } from '../../records/check-item.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { SeedOptions, SeedReport } from '../branches.ts'
import { type NewEntry, TAINT, type TurnEnd } from '../entry.ts'
import { conversationId, memberOf } from '../rows/store-input.ts'
import type { Store } from '../store.ts'
import { conversationExists, invalidInput } from '../store-errors.ts'
import { SeedEntries, type SeededEntry } from './seed-entries.ts'
import { SeedSpool } from './seed-spool.ts'

/** What seeding needs of a store. */
export interface SeedTarget {
  readonly store: Pick<Store, 'conversation' | 'acquire' | 'append' | 'release' | 'delete'>
  readonly spool: SpoolStore | undefined
  readonly now: number
}

const LEASE_MS = 10 * 60_000
const BATCH_ENTRIES = 200

/** Stores a history that began elsewhere as a new conversation, all of it or nothing. */
export async function seedConversation(
  { store, spool, now }: SeedTarget,
  options: SeedOptions,
): Promise<SeedReport> {
  const { conversation = randomId(), trust = 'third-party', key } = memberOf(options, 'options')
  conversationId(conversation)
  if (!TRUST_TIERS.includes(trust)) {
    throw invalidInput('trust', `must be one of ${TRUST_TIERS.join(', ')}`)
  }
  const items = checkedItems(options.items)
  if ((await store.conversation(conversation)) !== undefined) throw conversationExists(conversation)
  const results = new SeedSpool(spool)
  const seeded = new SeedEntries(items, { trust, now, ids: randomId, spool: results })
  const lease = await store.acquire(conversation, {
    owner: 'seed',
    leaseMs: LEASE_MS,
    ...(key && { key }),
  })
  let entries = 0
  try {
    if (!lease.created) throw conversationExists(conversation)
    let batch: NewEntry[] = []
    const flush = async () => {
      await store.append(conversation, lease.epoch, batch, results.take())
      entries += batch.length
      batch = []
    }
    for await (const entry of inTurns(items, seeded, trust)) {
      batch.push(entry)
      if (batch.length >= BATCH_ENTRIES) await flush()
    }
    await flush()
    return { conversation, entries, repairs: seeded.repairs }
  } catch (error) {
    // If another runner took the conversation, it is theirs to delete.
    const isOurs = lease.created && !isBobbinError(error, 'E_STALE_RUNNER')
    if (isOurs) await store.delete(conversation)
    throw error
  } finally {
    await store.release(conversation, lease.epoch)
  }
}

function checkedItems(given: unknown): readonly HistoryItem[] {
  if (!isIterable(given)) {
    throw invalidInput('items', 'must be a list, such as `wire(api).decode` gives as `items`')
  }
  const items: HistoryItem[] = []
  for (const item of given) {
    const at = items.length
    checkItem(item, (path, rule) => invalidInput(`items[${at}]${path}`, rule))
    items.push(item)
  }
  if (items.length === 0)
    throw invalidInput('items', 'must not be empty: there is nothing to store')
  return items
}

/** The entries of a history, in turns: each begins with what the user said. */
async function* inTurns(
  items: readonly HistoryItem[],
  seeded: SeedEntries,
  trust: TrustTier,
): AsyncGenerator<NewEntry> {
  let turnId = randomId()
  let isAnswered = false
  yield { kind: 'turn-start', turnId, data: { input: 'run' } }
  yield { ...taintNote(trust), turnId }
  for (const [at, item] of items.entries()) {
    const isInput = item.type === 'message' && item.role === 'user'
    const entries = await entriesOf(seeded, item, at)
    if (isInput && isAnswered && entries.length > 0) {
      yield { kind: 'turn-end', turnId, data: { status: 'completed' } }
      turnId = randomId()
      yield { kind: 'turn-start', turnId, data: { input: 'run' } }
      isAnswered = false
    }
    for (const entry of entries) yield { ...entry, turnId }
    if (!isInput && entries.length > 0) isAnswered = true
  }
  const last = items.at(-1)
  const hasAnswer = last?.type === 'message' && last.role === 'assistant'
  yield { kind: 'turn-end', turnId, data: hasAnswer ? { status: 'completed' } : UNANSWERED }
}

/** `recover` asks the model for the answer. */
const UNANSWERED: TurnEnd = {
  status: 'aborted',
  reason: { code: 'ABORTED', message: 'The seeded history ends without an answer.' },
}

/** Everything in the history may be a stranger's. It comes first, so that a fork has it too. */
const taintNote = (trust: TrustTier) =>
  ({
    kind: 'note',
    data: {
      level: 'info',
      code: TAINT,
      message: 'The conversation was seeded with a history from elsewhere.',
      data: { trust },
    },
  }) as const

async function entriesOf(
  seeded: SeedEntries,
  item: HistoryItem,
  at: number,
): Promise<readonly SeededEntry[]> {
  try {
    return await seeded.of(item)
  } catch (error) {
    if (!isBobbinError(error) || error.code.startsWith('E_STORE')) throw error
    throw invalidInput(`items[${at}]`, `cannot be stored: ${error.message.replace(/\.$/, '')}`)
  }
}
