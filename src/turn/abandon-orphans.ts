import { nestedConversations } from '../store/nested-conversations.ts'
import type { Store } from '../store/store.ts'
import { abandonLeft } from './abandon-nested.ts'
import { conversationInside, settingsInside } from './nested-turn.ts'
import type { RunnerSettings } from './runner-options.ts'
import { ofStore } from './store-failure.ts'
import type { Turn } from './turn.ts'

/**
 * Ends what turns inside calls left open whose records are there already: a process died behind the record and
 * before it could see to them. Nobody else would go into those conversations again.
 */
export async function abandonOrphans(
  turn: Turn,
  finish: (inner: Turn) => Promise<unknown>,
): Promise<void> {
  const { conversation } = turn
  const waiting = new Set<string>()
  for (const { intent } of conversation.unsettled.values()) {
    if (intent) waiting.add(conversationInside(conversation.id, intent.idempotencyKey))
  }
  for (const settings of settingsInStores(turn)) {
    const { store } = settings
    for (const id of await ofStore(() => nestedConversations(store, conversation.id))) {
      if (waiting.has(id)) continue
      const isLeft = await ofStore(() => diedInside(store, id))
      await abandonLeft(turn, settings, id, finish, isLeft)
    }
  }
}

/** Settings for each store that holds turns inside calls of this one: an agent may have its own. */
function settingsInStores({ settings }: Turn): Iterable<RunnerSettings> {
  const found = new Map([[settings.store, settings]])
  for (const tool of settings.tools) {
    const inside = settingsInside(tool, settings)
    if (!found.has(inside.store)) found.set(inside.store, inside)
  }
  return found.values()
}

/** Whether the last turn of a conversation did not come to its end: a log that is closed ends in one. */
async function diedInside(store: Store, conversation: string): Promise<boolean> {
  const { length: from = 0 } = (await store.conversation(conversation)) ?? {}
  if (from === 0) return false
  for await (const { kind } of store.entries(conversation, { from })) return kind !== 'turn-end'
  return false
}
