import { type Clock, systemClock } from '../core/clock.ts'
import { BobbinError } from '../core/error.ts'
import { assertDigest } from '../spool/digest-name.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { type AppendSettings, PlannedAppend } from './append-plan.ts'
import type { AppendRequest } from './append-request.ts'
import { APPENDED } from './appended.ts'
import { assertBlobs } from './blob-row.ts'
import { conversationKeys } from './conversation-keys.ts'
import { createGates } from './create-gates.ts'
import type { Entry, EntryKind, EntryOf, NewEntry } from './entry.ts'
import { assertNewEntry, columnsOf, decodeEntry } from './entry-text.ts'
import { exportConversation } from './export-conversation.ts'
import { importConversation } from './import-conversation.ts'
import { LastingEntry } from './lasting-entry.ts'
import { nestedConversations } from './nested-conversations.ts'
import type { Redact } from './redaction.ts'
import {
  type ConversationInfo,
  DEFAULT_LEASE_MS,
  type Lease,
  type Store,
  type StoredBlob,
} from './store.ts'
import type { AppendOutcome, StoreDriver } from './store-driver.ts'
import { invalidInput, notFound, staleRunner } from './store-errors.ts'
import {
  columnFilter,
  conversationId,
  entryKind,
  pageSize,
  positionAfter,
  textColumn,
  wholeNumber,
} from './store-input.ts'
import type { ConversationRow } from './store-rows.ts'
import { verifyConversation } from './verify-conversation.ts'

/** What every store takes. */
export interface StoreOptions {
  /** Names what must not be stored; see `Redact`. */
  readonly redact?: Redact
  readonly clock?: Clock
  /** Makes the keys of conversations; the platform's generator unless given. */
  readonly randomBytes?: (length: number) => Uint8Array
}

const NO_BLOBS: readonly StoredBlob[] = []

/** How many rows are read at a time. */
const PAGE = 500

/** A store on top of any database that a driver speaks for. */
export function createStore(
  driver: StoreDriver,
  options: StoreOptions & { readonly spool?: SpoolStore } = {},
): Store {
  const { clock = systemClock, redact, spool } = options
  if (redact !== undefined && typeof redact !== 'function') {
    throw invalidInput('redact', 'must be a function, such as `redactKeys(/password|token/i)`')
  }
  const keys = conversationKeys(options.randomBytes)
  if (driver.durable && spool?.durable === false) {
    throw invalidInput(
      'spool',
      'must be durable, as the store is: records would outlive their results',
    )
  }

  const settings: AppendSettings = { redact, key: (row) => keys.of(row) }

  const planned = (request: AppendRequest) => {
    const { conversation, epoch, entries } = request
    conversationId(conversation)
    wholeNumber(epoch, 'epoch', 0)
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as NewEntry
      // One of our own was made whole.
      if (!(entry instanceof LastingEntry)) assertNewEntry(entry, i)
    }
    return new PlannedAppend(request, settings, clock.now())
  }

  const end = (
    request: AppendRequest,
    plan: PlannedAppend,
    outcome: AppendOutcome,
    readBack: boolean,
  ) => {
    if (outcome.status !== 'done') return refuse(driver, request, outcome)
    return readBack ? Promise.resolve(plan.stored()) : APPENDED
  }

  const append = (request: AppendRequest, readBack = true): Promise<readonly Entry[]> => {
    try {
      const { entries, blobs } = request
      if (entries.length === 0 && blobs.length === 0) return APPENDED
      assertBlobs(blobs)
      const isPlain = redact === undefined && !readBack && request.imported === undefined
      const kept = isPlain ? driver.keep?.(request, clock.now()) : undefined
      if (kept?.status === 'done') return APPENDED
      const plan = planned(request)
      const appending = driver.append(request.conversation, request.epoch, plan)
      return appending instanceof Promise
        ? appending.then((outcome) => end(request, plan, outcome, readBack))
        : end(request, plan, appending, readBack)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  const requireRow = async (id: string): Promise<ConversationRow> => {
    const row = await driver.conversation(conversationId(id))
    if (row === undefined) throw notFound('conversation', id)
    return row
  }

  const extend = (conversation: string, epoch: number, until: number) =>
    driver.extend(conversationId(conversation), wholeNumber(epoch, 'epoch', 0), until)

  const store: Store = {
    durable: driver.durable,
    ...(spool && { spool }),
    ...createGates(driver, clock),

    async acquire(conversation, { owner, leaseMs = DEFAULT_LEASE_MS, force = false, key }) {
      const newKey = keys.forNew(key)
      const before = await driver.conversation(conversationId(conversation))
      if (before !== undefined) keys.check(before, key)
      const now = clock.now()
      const { granted, created, row } = await driver.acquire({
        conversation,
        owner: textColumn(owner, 'owner'),
        now,
        until: now + wholeNumber(leaseMs, 'leaseMs', 0),
        force,
        newKey,
      })
      if (!granted) throw busy(row)
      if (!created) keys.check(row, key)
      if (key !== undefined) keys.hold(conversation, key)
      return { ...leaseOf(row), created }
    },

    async renew(conversation, epoch, leaseMs = DEFAULT_LEASE_MS) {
      const until = clock.now() + wholeNumber(leaseMs, 'leaseMs', 0)
      const row = await extend(conversation, epoch, until)
      if (row === undefined) throw notFound('conversation', conversation)
      if (row.epoch !== epoch) throw staleRunner(conversation, epoch, row.epoch)
      return { ...leaseOf(row), created: false }
    },

    async release(conversation, epoch) {
      const row = await extend(conversation, epoch, 0)
      if (row === undefined || row.epoch === epoch) keys.forget(conversation)
    },

    append: (conversation, epoch, entries, blobs = NO_BLOBS, how) =>
      append({ conversation, epoch, entries, blobs }, how?.readBack),

    async *entries(conversation, { from = 1 } = {}) {
      conversationId(conversation)
      for (let next = wholeNumber(from, 'from', 1); ; ) {
        const rows = await driver.texts(conversation, next, PAGE)
        for (const row of rows) yield decodeEntry(conversation, row)
        const last = rows.at(-1)
        if (last === undefined || rows.length < PAGE) return
        next = last.seq + 1
      }
    },

    async get<K extends EntryKind>(conversation: string, kind: K, id: string) {
      const column = textColumn(id, 'id')
      const row = await driver.text(conversationId(conversation), entryKind(kind), column)
      return row && (decodeEntry(conversation, row) as EntryOf<K>)
    },

    async find({ limit = 100, after, ...filter }) {
      const size = pageSize(limit)
      const rows = await driver.find(columnFilter(filter), positionAfter(after), size)
      const entries = rows.map((row) => ({
        conversation: row.conversation,
        entry: decodeEntry(row.conversation, row),
      }))
      const last = rows.at(-1)
      return { entries, ...(last && rows.length === size && { next: String(last.position) }) }
    },

    count: async (filter) => driver.count(columnFilter(filter)),

    async conversations({ after = '', limit = 100 } = {}) {
      const name = after === '' ? '' : conversationId(after, 'after')
      const rows = await driver.conversations(name, pageSize(limit))
      return rows.map((row) => infoOf(row, clock.now()))
    },

    async conversation(id) {
      const row = await driver.conversation(conversationId(id))
      return row && infoOf(row, clock.now())
    },

    key: async (conversation) => keys.of(await requireRow(conversation)),

    blob: async (digest) => driver.blob(assertDigest(digest)),

    async *digests(conversation) {
      if (conversation !== undefined) conversationId(conversation)
      for (let after = ''; ; ) {
        const page = await driver.references(conversation, after, PAGE)
        yield* page
        if (page.length < PAGE) return
        after = page.at(-1) ?? ''
      }
    },

    async delete(conversation) {
      conversationId(conversation)
      // First, so that whoever dies in between finds them again.
      for (const nested of await nestedConversations(store, conversation))
        await store.delete(nested)
      keys.forget(conversation)
      return driver.delete(conversation)
    },

    async verify(request) {
      const row = await requireRow(request.conversation)
      const where = request.spool ?? spool
      return verifyConversation(driver, row, {
        ...request,
        key: request.key ?? keys.known(row),
        ...(where && { spool: where }),
      })
    },

    async *export(conversation, from = {}) {
      await requireRow(conversation)
      const where = from.spool ?? spool
      yield* exportConversation(store, conversation, { clock, ...(where && { spool: where }) })
    },

    import(lines, into = {}) {
      const where = into.spool ?? spool
      return importConversation(lines, {
        ...into,
        store,
        append,
        ...(where && { spool: where }),
      })
    },

    close: () => driver.close(),
  }
  return store
}

function leaseOf(row: ConversationRow): Omit<Lease, 'created'> {
  return { conversation: row.id, epoch: row.epoch, expiresAt: row.leaseUntil }
}

function infoOf(row: ConversationRow, now: number): ConversationInfo {
  const { id, createdAt, updatedAt, length, epoch, owner, leaseUntil, seal } = row
  return {
    id,
    createdAt,
    updatedAt,
    length,
    epoch,
    ...(leaseUntil > now && { holder: { owner, expiresAt: leaseUntil } }),
    ...(seal !== '' && { seal }),
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

function busy(row: ConversationRow): BobbinError<'E_CONVERSATION_BUSY'> {
  const { id: conversation, owner, leaseUntil: expiresAt } = row
  const message =
    `Conversation \`${conversation}\` is held by \`${owner}\` until ${new Date(expiresAt).toISOString()}: ` +
    'wait for its turn to end, or take over with `recover({ conversation, force: true })` when that runner is known to be dead.'
  return new BobbinError('E_CONVERSATION_BUSY', message, { conversation, owner, expiresAt })
}
