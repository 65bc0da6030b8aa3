import type { RunnerStore } from '../store.ts'

const PAGE = 500

/**
 * The conversations of turns that ran inside calls of this one. Their names begin with the name of this
 * conversation and a slash. Other conversations may have such names too, so the first entry must name this
 * conversation as the parent. An empty conversation without a holder was left by a turn that failed at once.
 */
export async function nestedConversations(
  store: Pick<RunnerStore, 'conversations' | 'find'>,
  conversation: string,
): Promise<readonly string[]> {
  const prefix = `${conversation}/`
  const nested: string[] = []
  for (let after = prefix; ; ) {
    const page = await store.conversations({ after, limit: PAGE })
    for (const { id, length, holder } of page) {
      if (!id.startsWith(prefix)) return nested
      const { entries } = await store.find({ conversation: id, kind: 'turn-start', limit: 1 })
      const first = entries[0]?.entry
      const isInside =
        first?.kind === 'turn-start' && first.data.parent?.conversation === conversation
      if (isInside || (length === 0 && holder === undefined)) nested.push(id)
      after = id
    }
    if (page.length < PAGE) return nested
  }
}
