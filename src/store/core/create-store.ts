import { type Clock, systemClock } from '../../core/clock.ts'
import { isIterable, isObject, requireOptions, wrongInput } from '../../core/error/wrong-input.ts'
import { assertDigest } from '../../spool/digest-name.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { exportConversation } from '../archive/export-conversation.ts'
import { importConversation } from '../archive/import-conversation.ts'
import { seedConversation } from '../archive/seed-conversation.ts'
import { verifyConversation } from '../audit/verify-conversation.ts'
import type { EntryKind, EntryOf } from '../entry.ts'
import { conversationKeys } from '../rows/conversation-keys.ts'
import { conversationListing } from '../rows/conversation-listing.ts'
import { mergedMeta, metaObject, metaOf } from '../rows/conversation-meta.ts'
import { decodeEntry } from '../rows/entry-text.ts'
import { envelopeKeyOf } from '../rows/envelope-column.ts'
import { originOf } from '../rows/fork-origin.ts'
import type { Redact } from '../rows/redaction.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import {
  columnFilter,
  conversationId,
  entryKind,
  memberOf,
  pageSize,
  positionAfter,
  textColumn,
  wholeNumber,
} from '../rows/store-input.ts'
import type { ConversationRow } from '../rows/store-rows.ts'
import type { ConversationInfo, Store } from '../store.ts'
import { invalidInput, notFound } from '../store-errors.ts'
import { storedResults } from '../stored-results.ts'
import { createAppend } from './create-append.ts'
import { createGates } from './create-gates.ts'
import { createGrants } from './create-grants.ts'
import { createLeases } from './create-leases.ts'
import { forkConversation } from './fork-conversation.ts'
import { nestedConversations } from './nested-conversations.ts'
import { readHistory } from './read-history.ts'

/** What every store takes. */
export interface StoreOptions {
  /** Names values that must not be stored; see `Redact`. */
  readonly redact?: Redact
  readonly clock?: Clock
  /** Makes the keys of conversations; the platform's generator unless given. */
  readonly randomBytes?: (length: number) => Uint8Array
}

/** Their names, to refuse others: a misspelt `redact` would store everything. */
export const STORE_OPTIONS: readonly (keyof StoreOptions)[] = ['redact', 'clock', 'randomBytes']

/** How often `verify` reads a conversation that changes while it is read. */
const MAX_VERIFY_TRIES = 5

/** How many rows are read at a time. */
const PAGE = 500

/** Makes a store from a driver for any database. */
export function createStore(
  driver: StoreDriver,
  options: StoreOptions & { readonly spool?: SpoolStore } = {},
): Store {
  requireDriver(driver)
  requireOptions('createStore', options, [...STORE_OPTIONS, 'spool'])
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

  const { append, appendAlone } = createAppend(driver, clock, {
    redact,
    key: (row) => keys.of(row),
  })

  const requireRow = async (id: string): Promise<ConversationRow> => {
    const row = await driver.conversation(conversationId(id))
    if (row === undefined) throw notFound('conversation', id)
    return row
  }

  const withSpool = (given = spool) => given && { spool: given }

  const store: Store = {
    durable: driver.durable,
    ...withSpool(),
    ...(driver.feed && { feed: driver.feed }),
    ...createLeases(driver, clock, keys),
    ...createGates(driver, clock),
    ...createGrants(driver, clock),

    append,

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
      const { limit: most = 100, after, descending = false, ...filter } = memberOf(query, 'query')
      if (typeof descending !== 'boolean') throw invalidInput('descending', 'must be true or false')
      const limit = pageSize(most)
      const page = { after: positionAfter(after, descending), limit, descending }
      const rows = await driver.find(columnFilter(filter), page)
      const entries = rows.map((row) => ({
        conversation: row.conversation,
        entry: decodeEntry(row.conversation, row),
      }))
      const last = rows.at(-1)
      return { entries, ...(last && rows.length === limit && { next: String(last.position) }) }
    },

    count: async (filter) => driver.count(columnFilter(memberOf(filter, 'filter'))),

    async conversations(query = {}) {
      const rows = await driver.conversations(conversationListing(query))
      return rows.map((row) => infoOf(row, clock.now()))
    },

    async setMeta(conversation, patch) {
      const members = metaObject(patch, 'patch')
      const change = (meta: string) => mergedMeta(meta, members)
      const row = await driver.setMeta(conversationId(conversation), change)
      if (row === undefined) throw notFound('conversation', conversation)
      return infoOf(row, clock.now())
    },

    async history(query) {
      const { conversation, artifacts, ...page } = memberOf(query, 'query')
      if (artifacts !== undefined && !isListOfClasses(artifacts)) {
        throw invalidInput('artifacts', 'must be a list of artifact classes')
      }
      const row = await requireRow(conversation)
      const results = storedResults(store, page.spool)
      return readHistory(driver, row, page, { spool: results, ...(artifacts && { artifacts }) })
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

    async seed(history) {
      const { spool: where } = memberOf(history, 'options')
      return seedConversation({ store, spool: where ?? spool, now: clock.now() }, history)
    },

    async fork(from, where = {}) {
      const row = await forkConversation({ driver, clock, keys }, await requireRow(from), where)
      return infoOf(row, clock.now())
    },

    async envelopeKey(conversation, key) {
      const row = await requireRow(conversation)
      return envelopeKeyOf(row, key ?? keys.of(row))
    },

    async delete(conversation) {
      conversationId(conversation)
      const deleteNested = async () => {
        const nested = await nestedConversations(store, conversation)
        const inherited = await inheritedAlone(driver, conversation)
        for (const id of [...nested, ...inherited]) {
          if (!(await driver.isInherited(id, conversation))) await store.delete(id)
        }
      }
      // First: after a crash in between, the conversation is still there, and the nested ones are found again.
      await deleteNested()
      keys.forget(conversation)
      const wasThere = await driver.delete(conversation)
      // A turn that was still running may have started another one.
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
        // The parts are read one after another. They differ if a running turn writes in between.
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
      return importConversation(lines, { ...into, store, appendAlone, ...where })
    },

    close: () => driver.close(),
  }
  return store
}

const METHODS = [
  'acquire',
  'extend',
  'append',
  'texts',
  'rows',
  'text',
  'find',
  'count',
  'conversation',
  'conversations',
  'setMeta',
  'gate',
  'gates',
  'replaceGate',
  'grant',
  'grants',
  'grantShapes',
  'replaceGrant',
  'blob',
  'references',
  'fork',
  'inherited',
  'isInherited',
  'delete',
  'close',
] as const satisfies readonly (keyof StoreDriver)[]

function requireDriver(driver: StoreDriver): void {
  if (!isObject(driver)) throw wrongInput('createStore', 'driver', 'must be a `StoreDriver`')
  const missing = METHODS.find((method) => typeof driver[method] !== 'function')
  if (missing !== undefined) {
    throw wrongInput('createStore', `driver.${missing}`, 'must be a function')
  }
}

/** The conversations that a fork took over, and whose own outer conversation is gone. */
async function inheritedAlone(driver: StoreDriver, fork: string): Promise<readonly string[]> {
  const alone: string[] = []
  for (const id of await driver.inherited(fork)) {
    const outer = (await driver.conversation(id))?.parent
    if (typeof outer !== 'string' || (await driver.conversation(outer)) === undefined) {
      alone.push(id)
    }
  }
  return alone
}

const isListOfClasses = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'function')

function infoOf(row: ConversationRow, now: number): ConversationInfo {
  const { id, createdAt, updatedAt, length, epoch, owner, leaseUntil, seal, agent } = row
  const meta = metaOf(row.meta)
  const origin = originOf(row)
  return {
    id,
    createdAt,
    updatedAt,
    length,
    epoch,
    ...(leaseUntil > now && { holder: { owner, expiresAt: leaseUntil } }),
    ...(seal !== '' && { seal }),
    ...(meta && { meta }),
    ...(agent !== null && { agent }),
    ...(origin && { origin: { conversation: origin.conversation, length: origin.length } }),
  }
}
