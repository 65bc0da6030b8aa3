import type { EntryOf } from '../../store/entry.ts'
import type { ConversationInfo, Store } from '../../store/store.ts'
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
  const all: ConversationInfo[] = []
  for await (const info of eachConversation(store)) all.push(info)
  if (wanted === 'last') {
    const newest = all.toSorted((a, b) => b.updatedAt - a.updatedAt)[0]
    if (newest !== undefined) return newest
  }
  const matches = all.filter(({ id }) => id.startsWith(wanted))
  const [only] = matches
  if (only !== undefined && matches.length === 1) return only
  throw usageError(
    matches.length === 0
      ? `Unknown conversation \`${wanted}\`: \`bobbin calls --conversations\` lists them.`
      : `${matches.length} conversations begin with \`${wanted}\`: write more of the id.`,
  )
}

export async function* eachConversation(store: Store): AsyncGenerator<ConversationInfo> {
  let after: string | undefined
  for (;;) {
    const page = await store.conversations({ limit: PAGE, ...(after !== undefined && { after }) })
    yield* page
    after = page.at(-1)?.id
    if (page.length < PAGE) return
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
    if (typeof id === 'string' && id.startsWith(wanted)) {
      matches.set(`${call.conversation} ${id}`, call)
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
