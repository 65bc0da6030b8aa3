import type { EntryKind } from '../entry.ts'
import type { EntryFilter } from '../store.ts'
import { invalidInput } from '../store-errors.ts'
import { columnText, ENTRY_KINDS } from './entry-text.ts'

// Input is checked here, once for every driver. Each database would accept other values and report errors in
// its own words.

/** How many rows one answer has at most. */
const MAX_PAGE = 1000

/** A conversation's name stands in indexes and messages, so it is short and clean. */
export function conversationId(id: unknown, path = 'conversation'): string {
  if (typeof id === 'string' && isConversationName(id)) return id
  throw invalidInput(path, 'must be 1 to 512 characters of well-formed text without NUL')
}

/** Whether a text is a valid name for a conversation. */
export function isConversationName(text: string): boolean {
  return text !== '' && text.length <= 512 && text.isWellFormed() && !text.includes('\0')
}

/** Refuses values that have no members. */
export function memberOf<T extends object>(given: T, path: string): T {
  const isObject = typeof given === 'object' && (given as T | null) !== null
  if (isObject && !Array.isArray(given)) return given
  throw invalidInput(path, 'must be an object; `{}` takes the defaults')
}

/** Any text, as it stands in a column. */
export function textColumn(text: unknown, path: string): string {
  if (typeof text !== 'string') throw invalidInput(path, 'must be a string')
  return columnText(text)
}

export function wholeNumber(value: unknown, path: string, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw invalidInput(path, `must be a whole number, ${least} or more`)
}

/** How many rows to read for a `limit`. */
export function pageSize(limit: unknown): number {
  return Math.min(wholeNumber(limit, 'limit', 1), MAX_PAGE)
}

/** The position that the `next` of a page stands for. */
export function positionAfter(after: unknown, descending: boolean): number {
  if (after === undefined) return descending ? Number.MAX_SAFE_INTEGER : 0
  if (typeof after === 'string' && /^\d{1,15}$/.test(after)) return Number(after)
  throw invalidInput('after', 'must be the `next` of an earlier page')
}

export function entryKind(kind: unknown, path = 'kind'): EntryKind {
  if (ENTRY_KINDS.includes(kind as EntryKind)) return kind as EntryKind
  throw invalidInput(path, `must be one of ${ENTRY_KINDS.join(', ')}`)
}

/** Times are whole numbers, so a bound is rounded up to the next one. */
function timeBound(value: unknown, path: string): number {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    throw invalidInput(path, 'must be epoch milliseconds')
  }
  const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number
  return Math.min(Math.max(Math.ceil(value), MIN_SAFE_INTEGER), MAX_SAFE_INTEGER)
}

const FILTER: {
  readonly [K in keyof EntryFilter]-?: (value: unknown, path: string) => EntryFilter[K]
} = {
  conversation: conversationId,
  turnId: textColumn,
  kind: entryKind,
  id: textColumn,
  checksum: textColumn,
  tool: textColumn,
  settlement: textColumn,
  since: timeBound,
  until: timeBound,
}

/** A filter as drivers take it: each member as its column holds it. */
export function columnFilter(filter: EntryFilter): EntryFilter {
  // A misspelt name that is ignored would find everything.
  const unknown = Object.keys(filter).find((name) => !Object.hasOwn(FILTER, name))
  if (unknown !== undefined) {
    throw invalidInput(unknown, `is not a filter: use ${Object.keys(FILTER).join(', ')}`)
  }
  const members = Object.entries(FILTER).flatMap(([name, check]) => {
    const value = filter[name as keyof EntryFilter]
    return value === undefined ? [] : [[name, check(value, name)]]
  })
  return Object.fromEntries(members) as EntryFilter
}
