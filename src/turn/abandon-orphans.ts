import { nestedConversations } from '../store/nested-conversations.ts'
import type { Store } from '../store/store.ts'
import { abandonLeft } from './abandon-nested.ts'
import { conversationInside } from './nested-turn.ts'
import type { Turn } from './turn.ts'

/**
 * Ends what turns inside calls left open whose records are there already: a process died behind the record and
 * before it could see to them. Nobody else would go into those conversations again.
 */
export async function abandonOrphans(
  turn: Turn,
  finish: (inner: Turn) => Promise<unknown>,
): Promise<void> {
  const { conversation, settings } = turn
  const waiting = new Set<string>()
  for (const { intent } of conversation.unsettled.values()) {
    if (intent) waiting.add(conversationInside(conversation.id, intent.idempotencyKey))
  }
  for (const id of await nestedConversations(settings.store, conversation.id)) {
    if (waiting.has(id)) continue
    await abandonLeft(turn, settings, id, finish, await diedInside(settings.store, id))
  }
}

/** Whether the last turn of a conversation did not come to its end: a log that is closed ends in one. */
async function diedInside(store: Store, conversation: string): Promise<boolean> {
  const { length: from = 0 } = (await store.conversation(conversation)) ?? {}
  if (from === 0) return false
  for await (const { kind } of store.entries(conversation, { from })) return kind !== 'turn-end'
  return false
}
