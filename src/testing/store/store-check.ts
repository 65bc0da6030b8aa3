import assert from 'node:assert/strict'
import type { Clock } from '../../core/clock.ts'
import { isBobbinError } from '../../core/error/error.ts'
import type { ErrorCode } from '../../core/error/error-codes.ts'
import type { Entry } from '../../store/entry.ts'
import type { Redact } from '../../store/rows/redaction.ts'
import type { EntryFilter, EntryQuery, Store } from '../../store/store.ts'
import type { TestClock } from './test-clock.ts'

/** Opens an empty store for one check. */
export type OpenStore = (options: {
  readonly clock: Clock
  readonly redact?: Redact
}) => OpenedStore | Promise<OpenedStore>

/** An empty store for one check, and a second way into it. */
export interface OpenedStore {
  readonly store: Store
  /** Another handle on the same data, as another process would have; absent for volatile stores. */
  readonly again?: () => Store | Promise<Store>
}

/** What a check gets to work with. */
export interface StoreCheckContext {
  readonly store: Store
  readonly clock: TestClock
  readonly again?: () => Promise<Store>
}

/** A named fact, not yet bound to a store. */
export interface StoreCheck {
  readonly name: string
  readonly redact?: Redact
  readonly run: (context: StoreCheckContext) => Promise<void>
}

export async function rejectsWith(
  code: ErrorCode,
  promise: Promise<unknown>,
  what = '',
): Promise<void> {
  const isExpected = (error: unknown) => isBobbinError(error, code)
  await assert.rejects(promise, isExpected, `rejects with ${code} ${what}`)
}

export async function allEntries(store: Store, conversation: string, from = 1): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of store.entries(conversation, { from })) entries.push(entry)
  return entries
}

/** Every entry that a filter gives, in pages of a few. */
export async function findAll(
  store: Store,
  filter: EntryFilter & Pick<EntryQuery, 'descending'>,
  limit = 2,
): Promise<Entry[]> {
  const found: Entry[] = []
  let after: string | undefined
  for (let pages = 0; pages < 1000; pages++) {
    const page = await store.find({ ...filter, limit, ...(after !== undefined && { after }) })
    assert.ok(page.entries.length <= limit)
    found.push(...page.entries.map(({ entry }) => entry))
    if (page.next === undefined) return found
    after = page.next
  }
  throw new Error('paging does not end')
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
