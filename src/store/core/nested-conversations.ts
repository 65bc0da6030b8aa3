import { sha256Hex } from '#hash'
import { isConversationName } from '../rows/store-input.ts'
import type { RunnerStore } from '../store.ts'

const PAGE = 500

/**
 * The conversation of the turn inside a call: the call's key, or a digest of it if it is not a valid name, because models
 * choose the ids of calls. It begins with the name of the outer conversation, so that a store can find it.
 */
export function conversationInside(outer: string, key: string): string {
  return isConversationName(key) ? key : `${outer}/${sha256Hex(key)}`
}

/**
 * The conversations of turns that ran inside calls of this one. Their names begin with the name of this
 * conversation and a slash. Other conversations may have such names too, so the first entry must name this
 * conversation as the parent. An empty conversation without a holder was left by a turn that failed at once. A fork is
 * never inside another conversation.
 */
export async function nestedConversations(
  store: Pick<RunnerStore, 'conversations' | 'find'>,
  conversation: string,
): Promise<readonly string[]> {
  const prefix = `${conversation}/`
  const nested: string[] = []
  for (let after = prefix; ; ) {
    const page = await store.conversations({ after, limit: PAGE })
    for (const { id, length, holder, origin } of page) {
      if (!id.startsWith(prefix)) return nested
      after = id
      if (origin !== undefined) continue
      const { entries } = await store.find({ conversation: id, kind: 'turn-start', limit: 1 })
      const first = entries[0]?.entry
      const isInside =
        first?.kind === 'turn-start' && first.data.parent?.conversation === conversation
      if (isInside || (length === 0 && holder === undefined)) nested.push(id)
    }
    if (page.length < PAGE) return nested
  }
}
