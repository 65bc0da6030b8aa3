import { type Clock, systemClock } from '../core/clock.ts'
import { isIterable, isObject } from '../core/wrong-input.ts'
import { assertDigest } from '../spool/digest-name.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { conversationKeys } from './conversation-keys.ts'
import { createAppend } from './create-append.ts'
import { createGates } from './create-gates.ts'
import { createLeases } from './create-leases.ts'
import type { EntryKind, EntryOf } from './entry.ts'
import { decodeEntry } from './entry-text.ts'
import { exportConversation } from './export-conversation.ts'
import { importConversation } from './import-conversation.ts'
import { nestedConversations } from './nested-conversations.ts'
import type { Redact } from './redaction.ts'
import type { ConversationInfo, Store } from './store.ts'
import type { StoreDriver } from './store-driver.ts'
import { invalidInput, notFound } from './store-errors.ts'
import {
  columnFilter,
  conversationId,
  entryKind,
  memberOf,
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

/** Their names: a slip in `redact` would store what it is to keep out. */
export const STORE_OPTIONS: readonly (keyof StoreOptions)[] = ['redact', 'clock', 'randomBytes']

/** How often a conversation is looked at that is written to at the same time. */
const MAX_VERIFY_TRIES = 5

/** How many rows are read at a time. */
const PAGE = 500

/** A store on top of any database that a driver speaks for. */
export function createStore(
  driver: StoreDriver,
  options: StoreOptions & { readonly spool?: SpoolStore } = {},
): Store {
  const { clock = systemClock, redact, randomBytes, spool } = options
  if (typeof (clock as Clock | null)?.now !== 'function') {
    throw invalidInput('clock', 'must have a `now()`')
  }
  if (redact !== undefined && typeof redact !== 'function') {
    throw invalidInput('redact', 'must be a function, such as `redactKeys(/password|token/i)`')
  }
  if (randomBytes !== undefined && typeof randomBytes !== 'function') {
    throw invalidInput('randomBytes', 'must be a function of a length')
  }
  const keys = conversationKeys(randomBytes)
  if (driver.durable && spool?.durable === false) {
    throw invalidInput(
      'spool',
      'must be durable, as the store is: records would outlive their results',
    )
  }

  const append = createAppend(driver, clock, { redact, key: (row) => keys.of(row) })

  const requireRow = async (id: string): Promise<ConversationRow> => {
    const row = await driver.conversation(conversationId(id))
    if (row === undefined) throw notFound('conversation', id)
    return row
  }

  const withSpool = (given = spool) => given && { spool: given }

  const store: Store = {
    durable: driver.durable,
    ...withSpool(),
    ...createLeases(driver, clock, keys),
    ...createGates(driver, clock),

    append: (conversation, epoch, entries, blobs = [], how) =>
      append({ conversation, epoch, entries, blobs }, how?.readBack),

    async *entries(conversation, range = {}) {
      const { from = 1 } = memberOf(range, 'options')
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

    async find(query) {
      const { limit = 100, after, ...filter } = memberOf(query, 'query')
      const size = pageSize(limit)
      const rows = await driver.find(columnFilter(filter), positionAfter(after), size)
      const entries = rows.map((row) => ({
        conversation: row.conversation,
        entry: decodeEntry(row.conversation, row),
      }))
      const last = rows.at(-1)
      return { entries, ...(last && rows.length === size && { next: String(last.position) }) }
    },

    count: async (filter) => driver.count(columnFilter(memberOf(filter, 'filter'))),

    async conversations(page = {}) {
      const { after = '', limit = 100 } = memberOf(page, 'options')
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
      const deleteNested = async () => {
        const nested = await nestedConversations(store, conversation)
        for (const id of nested) await store.delete(id)
      }
      // First, so that whoever dies in between finds them again.
      await deleteNested()
      keys.forget(conversation)
      const wasThere = await driver.delete(conversation)
      // A turn that still ran may have begun one meanwhile.
      if (wasThere) await deleteNested()
      return wasThere
    },

    async verify(request) {
      const { conversation } = memberOf(request, 'options')
      let row = await requireRow(conversation)
      for (let tries = 1; ; tries++) {
        const key = request.key ?? keys.known(row)
        const where = withSpool(request.spool)
        const report = await verifyConversation(driver, row, { ...request, key, ...where })
        if (report.ok || tries === MAX_VERIFY_TRIES) return report
        // Parts are read one after the other: a turn that goes on meanwhile makes them differ.
        const now = await requireRow(conversation)
        if (now.length === row.length && now.epoch === row.epoch) return report
        row = now
      }
    },

    async *export(conversation, from = {}) {
      await requireRow(conversation)
      const where = withSpool(memberOf(from, 'options').spool)
      yield* exportConversation(store, conversation, { clock, ...where })
    },

    async import(lines, into = {}) {
      if (!isIterable(lines) && !(isObject(lines) && Symbol.asyncIterator in lines)) {
        throw invalidInput('lines', 'must be a list or a stream of lines, as `export` gives them')
      }
      const where = withSpool(memberOf(into, 'options').spool)
      return importConversation(lines, { ...into, store, append, ...where })
    },

    close: () => driver.close(),
  }
  return store
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
