import type { Clock } from '../../core/clock.ts'
import { randomId } from '../../core/ids.ts'
import { agentFrom } from '../active-agent.ts'
import type { ForkOptions } from '../branches.ts'
import type { NewEntry, Note, TurnEnd } from '../entry.ts'
import type { ConversationKeys } from '../rows/conversation-keys.ts'
import { decodeEntry, encodeEntry } from '../rows/entry-text.ts'
import { forkSealOf, originText } from '../rows/fork-origin.ts'
import { sealOf } from '../rows/seal.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { conversationId, memberOf } from '../rows/store-input.ts'
import type { ConversationRow, EntryRow } from '../rows/store-rows.ts'
import { conversationExists, invalidInput, notFound } from '../store-errors.ts'
import { type ForkedPart, forkedGates, importedTaint, readFork } from './read-fork.ts'

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
  const taint = await importedTaint(driver, from, part)
  const made = keys.forFork(from, originKey, keyFor?.(to))
  const now = clock.now()
  const bare: ConversationRow = {
    ...from,
    ...{ id: to, createdAt: now, updatedAt: now, owner: 'fork', leaseUntil: 0, parent: null },
    ...made.columns,
    agent: await agentAt(driver, from, part.length),
  }
  const { row, added } = sealedFork(bare, from.id, part, { key: made.key, taint })
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

/** The row of a fork with its first seals, and the entries that it has besides those of its origin. */
function sealedFork(
  bare: ConversationRow,
  conversation: string,
  part: ForkedPart,
  given: { readonly key: Uint8Array; readonly taint: Note | undefined },
): { readonly row: ConversationRow; readonly added: readonly EntryRow[] } {
  const { key, taint } = given
  const { length } = part
  const from = { conversation, length }
  const seal = forkSealOf({ key, row: bare, from, previous: part.seal, digests: part.sealed })
  const origin = originText({ ...from, seal })
  const row = { ...bare, origin, length, sealedSeq: length, seal }
  const { id, epoch, createdAt: time } = row
  const added = ownEntries(part, taint).map((entry, at) =>
    encodeEntry(entry, { seq: length + at + 1, time, epoch }),
  )
  const last = added.at(-1)
  if (last?.kind !== 'turn-end') return { row: { ...row, length: length + added.length }, added }
  const digests = added.map(({ digest }) => digest)
  const end = { ...last, seal: sealOf({ key, conversation: id, previous: seal, digests }) }
  const { seq } = end
  return {
    row: { ...row, length: seq, sealedSeq: seq, seal: end.seal },
    added: [...added.slice(0, -1), end],
  }
}

/** The taint of what was imported, and the end of a turn that continues in the origin only. */
function ownEntries(
  { lastTurn: turnId = 'fork', isOpen }: ForkedPart,
  taint: Note | undefined,
): readonly NewEntry[] {
  return [
    ...(taint === undefined ? [] : [{ kind: 'note', turnId, data: taint } as const]),
    ...(isOpen ? [{ kind: 'turn-end', turnId, data: CUT_OFF } as const] : []),
  ]
}

const CUT_OFF: TurnEnd = {
  status: 'aborted',
  reason: { code: 'ABORTED', message: 'The conversation was forked in the middle of this turn.' },
}

/** The agent that was active at an entry: the first entry of each turn says so. */
async function agentAt(
  driver: Pick<StoreDriver, 'texts'>,
  { id, agent }: ConversationRow,
  length: number,
): Promise<string | null> {
  if (agent === null) return null
  for (let last = length; last > 0; last -= AGENT_PAGE) {
    const first = Math.max(1, last - AGENT_PAGE + 1)
    const rows = await driver.texts(id, first, last - first + 1)
    const found = rows.flatMap((row) => agentFrom(decodeEntry(id, row)) ?? []).at(-1)
    if (found !== undefined) return found
  }
  return null
}

const AGENT_PAGE = 200
