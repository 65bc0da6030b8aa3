import type { Clock } from '../../core/clock.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { NewEntry } from '../entry.ts'
import type { AppendRequest } from '../rows/append-request.ts'
import { assertBlobs } from '../rows/blob-row.ts'
import { assertNewEntry, columnsOf } from '../rows/entry-text.ts'
import type { AppendOutcome, StoreDriver } from '../rows/store-driver.ts'
import { conversationId, wholeNumber } from '../rows/store-input.ts'
import type { Appended, Store } from '../store.ts'
import { invalidInput, notFound, staleRunner } from '../store-errors.ts'
import { groupAppends } from './append-groups.ts'
import { type AppendSettings, planAppend } from './append-plan.ts'

/** The part of a store that adds to conversations. */
export interface StoreAppend extends Pick<Store, 'append'> {
  /** One append by itself, which may bring stamps of imported entries. */
  appendAlone(request: AppendRequest): Promise<Appended>
}

export function createAppend(
  driver: StoreDriver,
  clock: Clock,
  settings: AppendSettings,
): StoreAppend {
  const appendAlone = async (request: AppendRequest): Promise<Appended> => {
    const { conversation, epoch } = request
    const time = clock.now()
    const plan = planAppend(request, settings, time)
    const outcome = await driver.append(conversation, epoch, plan)
    if (outcome.status !== 'done') throw await refusal(driver, request, outcome)
    return { seq: outcome.seq, time }
  }
  const appendInGroup = groupAppends(appendAlone)

  return {
    appendAlone,
    async append(conversation, epoch, entries, blobs = []) {
      conversationId(conversation)
      wholeNumber(epoch, 'epoch', 0)
      if (!Array.isArray(entries)) throw invalidInput('entries', 'must be a list of entries')
      entries.forEach(assertNewEntry)
      assertBlobs(blobs)
      return appendInGroup({ conversation, epoch, entries, blobs })
    },
  }
}

/** Why nothing was appended. */
async function refusal(
  driver: StoreDriver,
  { conversation, epoch, entries }: AppendRequest,
  outcome: Exclude<AppendOutcome, { readonly status: 'done' }>,
): Promise<BobbinError> {
  if (outcome.status === 'missing') return notFound('conversation', conversation)
  if (outcome.status === 'stale') return staleRunner(conversation, epoch, outcome.current)
  return duplicateIn(driver, conversation, entries)
}

async function duplicateIn(
  driver: StoreDriver,
  conversation: string,
  entries: readonly NewEntry[],
): Promise<BobbinError> {
  const seen = new Set<string>()
  for (const entry of entries) {
    const { kind, id } = columnsOf(entry)
    if (id === null) continue
    const known = seen.has(`${kind} ${id}`) || (await driver.text(conversation, kind, id))
    seen.add(`${kind} ${id}`)
    if (!known) continue
    const message =
      `Conversation \`${conversation}\` has an entry of kind \`${kind}\` with id \`${id}\`: ids are unique. ` +
      'Nothing was stored. Give the new entry another id.'
    return new BobbinError('E_DUPLICATE_ENTRY', message, { conversation, kind, id })
  }
  return invalidInput('entries', 'clash with an entry that is already stored')
}
