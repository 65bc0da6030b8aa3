import type { Clock } from '../core/clock.ts'
import { BobbinError } from '../core/error.ts'
import { type AppendSettings, PlannedAppend } from './append-plan.ts'
import type { AppendRequest } from './append-request.ts'
import { APPENDED } from './appended.ts'
import { assertBlobs } from './blob-row.ts'
import type { Entry, NewEntry } from './entry.ts'
import { assertNewEntry, columnsOf } from './entry-text.ts'
import { LastingEntry } from './lasting-entry.ts'
import type { AppendOutcome, StoreDriver } from './store-driver.ts'
import { invalidInput, notFound, staleRunner } from './store-errors.ts'
import { conversationId, wholeNumber } from './store-input.ts'

/** The part of a store that adds to conversations. */
export function createAppend(
  driver: StoreDriver,
  clock: Clock,
  settings: AppendSettings,
): (request: AppendRequest, readBack?: boolean) => Promise<readonly Entry[]> {
  return (request, readBack = true) => {
    try {
      const { conversation, epoch, entries, blobs, imported } = request
      if (!Array.isArray(entries)) throw invalidInput('entries', 'must be a list of entries')
      if (entries.length === 0 && blobs.length === 0) return APPENDED
      assertBlobs(blobs)
      const isPlain = settings.redact === undefined && imported === undefined && !readBack
      const kept = isPlain ? driver.keep?.(request, clock.now()) : undefined
      if (kept?.status === 'done') return APPENDED
      assertRequest(request)
      const plan = new PlannedAppend(request, settings, clock.now())
      const end = (outcome: AppendOutcome) => {
        if (outcome.status !== 'done') return refuse(driver, request, outcome)
        return readBack ? Promise.resolve(plan.stored()) : APPENDED
      }
      const appending = driver.append(conversation, epoch, plan)
      return appending instanceof Promise ? appending.then(end) : end(appending)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

function assertRequest({ conversation, epoch, entries }: AppendRequest): void {
  conversationId(conversation)
  wholeNumber(epoch, 'epoch', 0)
  for (const [at, entry] of entries.entries()) {
    // One of our own was made whole.
    if (!(entry instanceof LastingEntry)) assertNewEntry(entry, at)
  }
}

/** Says why nothing was appended. */
async function refuse(
  driver: StoreDriver,
  { conversation, epoch, entries }: AppendRequest,
  outcome: Exclude<AppendOutcome, { readonly status: 'done' }>,
): Promise<never> {
  if (outcome.status === 'missing') throw notFound('conversation', conversation)
  if (outcome.status === 'stale') throw staleRunner(conversation, epoch, outcome.current)
  throw await duplicateIn(driver, conversation, entries)
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
      'Nothing was stored; give the new one another id.'
    return new BobbinError('E_DUPLICATE_ENTRY', message, { conversation, kind, id })
  }
  return invalidInput('entries', 'clash with an entry that is there')
}
