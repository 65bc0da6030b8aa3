import type { ConversationQuery } from '../store.ts'
import { invalidInput } from '../store-errors.ts'
import { type MetaColumn, metaColumns, metaObject } from './conversation-meta.ts'
import { conversationId, memberOf, pageSize } from './store-input.ts'
import type { ConversationRow } from './store-rows.ts'

/** Which conversations a driver lists, and in which order. */
export interface ConversationListing {
  /** Equal times are ordered by id. */
  readonly orderBy: 'id' | 'createdAt' | 'updatedAt'
  readonly descending: boolean
  /** Only conversations that come later in this order; of its members those count that are ordered by. */
  readonly after?: Pick<ConversationRow, 'id' | 'createdAt' | 'updatedAt'>
  /** The least id, by code point. */
  readonly from: string
  /** Ids are below this one, by code point. */
  readonly before?: string
  /** Only conversations without a parent. */
  readonly topLevel: boolean
  /** Every one must be there. */
  readonly meta: readonly MetaColumn[]
  readonly limit: number
}

const ORDERS = ['id', 'createdAt', 'updatedAt'] as const
const MEMBERS: readonly string[] = [
  'orderBy',
  'descending',
  'prefix',
  'topLevel',
  'meta',
  'after',
  'limit',
] satisfies readonly (keyof ConversationQuery)[]

/** The options of `conversations` as a driver takes them. */
export function conversationListing(query: ConversationQuery): ConversationListing {
  const given = memberOf(query, 'options')
  // A misspelt name that is ignored would list everything.
  const unknown = Object.keys(given).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) throw invalidInput(unknown, `is not known: use ${MEMBERS.join(', ')}`)
  const { orderBy = 'id', prefix = '', meta = {}, limit = 100 } = given
  if (!ORDERS.includes(orderBy)) {
    throw invalidInput('orderBy', `must be one of ${ORDERS.join(', ')}`)
  }
  const before = textAfterAll(prefixText(prefix))
  const after = placeAfter(given.after, orderBy)
  return {
    orderBy,
    descending: flag(given.descending, 'descending'),
    ...(after && { after }),
    from: prefix,
    ...(before !== undefined && { before }),
    topLevel: flag(given.topLevel, 'topLevel'),
    meta: metaColumns(metaObject(meta, 'meta')),
    limit: pageSize(limit),
  }
}

function flag(value: unknown, path: string): boolean {
  if (value === undefined) return false
  if (typeof value !== 'boolean') throw invalidInput(path, 'must be true or false')
  return value
}

function prefixText(prefix: unknown): string {
  return prefix === '' ? '' : conversationId(prefix, 'prefix')
}

function placeAfter(
  after: unknown,
  orderBy: ConversationListing['orderBy'],
): ConversationListing['after'] {
  if (after === undefined || after === '') return undefined
  if (typeof after === 'object' && after !== null) {
    const { id, createdAt, updatedAt } = after as Partial<ConversationRow>
    const isPlace = Number.isSafeInteger(createdAt) && Number.isSafeInteger(updatedAt)
    if (isPlace) {
      const place = { createdAt: createdAt as number, updatedAt: updatedAt as number }
      return { id: conversationId(id, 'after.id'), ...place }
    }
  } else if (orderBy === 'id') {
    return { id: conversationId(after, 'after'), createdAt: 0, updatedAt: 0 }
  }
  const orId = orderBy === 'id' ? ', or its id' : ''
  throw invalidInput('after', `must be the last conversation of the page before${orId}`)
}

const LAST_CODE_POINT = 0x10ffff

/** The least text, by code point, above every text with this prefix; undefined if no text is above all of them. */
function textAfterAll(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Half of a surrogate pair cannot stand in a database.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
