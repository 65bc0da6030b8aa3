import type { Clock } from '../../core/clock.ts'
import { randomId } from '../../core/ids.ts'
import type { NewEntry } from '../entry.ts'
import type { ConversationKeys } from '../rows/conversation-keys.ts'
import { encodeEntry } from '../rows/entry-text.ts'
import { forkSealOf, originText } from '../rows/fork-origin.ts'
import { sealOf } from '../rows/seal.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { conversationId, memberOf } from '../rows/store-input.ts'
import type { ConversationRow, EntryRow } from '../rows/store-rows.ts'
import type { ForkOptions } from '../store.ts'
import { conversationExists, invalidInput, notFound } from '../store-errors.ts'
import { type ForkedPart, forkedGates, readFork } from './read-fork.ts'

/** What forking needs of a store. */
export interface ForkTools {
  readonly driver: StoreDriver
  readonly clock: Clock
  readonly keys: ConversationKeys
}

/** Copies the beginning of a conversation into a new one, in one transaction, and seals it under a key of its own. */
export async function forkConversation(
  { driver, clock, keys }: ForkTools,
  from: ConversationRow,
  options: ForkOptions,
): Promise<ConversationRow> {
  const { to = randomId(), after, key: keyFor } = memberOf(options, 'options')
  conversationId(to, 'to')
  if (keyFor !== undefined && typeof keyFor !== 'function') {
    throw invalidInput('key', 'must be a function that gives the key of a conversation')
  }
  if ((await driver.conversation(to)) !== undefined) throw conversationExists(to)
  const originKey = keyFor?.(from.id)
  keys.check(from, originKey)
  const part = await readFork(driver, from, after, originKey ?? keys.of(from))
  const made = keys.forFork(from, originKey, keyFor?.(to))
  const now = clock.now()
  const bare: ConversationRow = {
    ...from,
    ...{ id: to, createdAt: now, updatedAt: now, owner: 'fork', leaseUntil: 0, parent: null },
    ...made.columns,
  }
  const { row, added } = sealedFork(bare, from.id, part, made.key)
  const plan = {
    from: from.id,
    length: part.length,
    digest: part.digest,
    row,
    entries: added,
    gates: await forkedGates(driver, from.id, part, to),
    references: part.references,
    inside: part.inside,
  }
  const outcome = await driver.fork(plan)
  if (outcome === 'missing') throw notFound('conversation', from.id)
  if (outcome === 'exists') throw conversationExists(to)
  return row
}

/** The row of a fork with its first seals, and the entry that ends a turn which was cut. */
function sealedFork(
  bare: ConversationRow,
  conversation: string,
  part: ForkedPart,
  key: Uint8Array,
): { readonly row: ConversationRow; readonly added: readonly EntryRow[] } {
  const { length, openTurn } = part
  const from = { conversation, length }
  const sealed = { key, row: bare, from, previous: part.seal, digests: part.sealed }
  const seal = forkSealOf(sealed)
  const origin = originText({ ...from, seal })
  const row = { ...bare, origin, length, sealedSeq: length, seal }
  if (openTurn === undefined) return { row, added: [] }
  const { id, epoch, createdAt: time } = row
  const ended = encodeEntry(cutOff(openTurn), { seq: length + 1, time, epoch })
  const last = sealOf({ key, conversation: id, previous: seal, digests: [ended.digest] })
  return {
    row: { ...row, length: ended.seq, sealedSeq: ended.seq, seal: last },
    added: [{ ...ended, seal: last }],
  }
}

/** The end of a turn that goes on in the origin only. */
const cutOff = (turnId: string): NewEntry => ({
  kind: 'turn-end',
  turnId,
  data: {
    status: 'aborted',
    reason: { code: 'ABORTED', message: 'The conversation was forked in the middle of this turn.' },
  },
})
