import type { EntryOf } from '../../store/entry.ts'
import type { ConversationInfo, ConversationQuery, Store } from '../../store/store.ts'
import { usageError } from './usage-error.ts'

const PAGE = 1000

/** A settled call in its conversation. */
export interface FoundCall {
  readonly conversation: string
  readonly entry: EntryOf<'settlement'>
}

/** The conversation under an id or the beginning of one; `last` is the one used last. */
export async function findConversation(store: Store, wanted: string): Promise<ConversationInfo> {
  const exact = await store.conversation(wanted)
  if (exact !== undefined) return exact
  if (wanted === 'last') {
    const used = { orderBy: 'updatedAt', descending: true, limit: 1 } as const
    const [newest] = await store.conversations(used)
    if (newest !== undefined) return newest
  }
  const [only, another] = await store.conversations({ prefix: wanted, limit: 2 })
  if (only !== undefined && another === undefined) return only
  throw usageError(
    only === undefined
      ? `Unknown conversation \`${wanted}\`: \`bobbin conversations\` lists them.`
      : `More than one conversation begins with \`${wanted}\`: write more of the id.`,
  )
}

/** The conversations that a query finds, page by page; a `limit` is one of all pages. */
export async function* eachConversation(
  store: Store,
  { limit = Number.POSITIVE_INFINITY, ...query }: ConversationQuery = {},
): AsyncGenerator<ConversationInfo> {
  let after: ConversationInfo | undefined
  for (let left = limit; left > 0; left -= PAGE) {
    const size = Math.min(left, PAGE)
    const page = await store.conversations({ ...query, limit: size, ...(after && { after }) })
    yield* page
    after = page.at(-1)
    if (page.length < size) return
  }
}

/** The settled call under an id or the beginning of one. */
export async function findCall(
  store: Store,
  wanted: string,
  conversation?: string,
): Promise<FoundCall> {
  const matches = new Map<string, FoundCall>()
  for await (const call of eachCall(store, conversation === undefined ? {} : { conversation })) {
    const { id } = call.entry.data as { readonly id?: unknown }
    if (id === wanted) return call
    const { digest } = call.entry
    // A fork has the very entries of its origin: the first one is meant.
    if (typeof id === 'string' && id.startsWith(wanted) && !matches.has(digest)) {
      matches.set(digest, call)
    }
  }
  const [only] = matches.values()
  if (only !== undefined && matches.size === 1) return only
  throw usageError(
    matches.size === 0
      ? `Unknown call \`${wanted}\`: \`bobbin calls\` lists them.`
      : `${matches.size} calls begin with \`${wanted}\`: write more of the id.`,
  )
}

interface CallFilter {
  readonly conversation?: string
  readonly tool?: string
  readonly settlement?: string
  readonly checksum?: string
}

/** Settled calls in the order in which they were stored. */
export async function* eachCall(store: Store, filter: CallFilter): AsyncGenerator<FoundCall> {
  let after: string | undefined
  do {
    const page = await store.find({
      ...filter,
      kind: 'settlement',
      limit: PAGE,
      ...(after !== undefined && { after }),
    })
    for (const { conversation, entry } of page.entries) {
      if (entry.kind === 'settlement') yield { conversation, entry }
    }
    after = page.next
  } while (after !== undefined)
}
