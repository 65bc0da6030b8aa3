import { systemClock } from '../core/clock.ts'
import { requireOptions } from '../core/error/wrong-input.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { Feed } from '../store/feed/feed.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { restoreFrom } from '../store/feed/follow.ts'
import { requireStore } from '../store/feed/follow-conversation.ts'
import { liveFeed } from '../store/feed/live-feed.ts'
import { conversationId } from '../store/rows/store-input.ts'
import type { Store } from '../store/store.ts'
import { PageState, type UiMessage } from './page-state.ts'
import { UiChunks } from './ui-chunks.ts'

/** Which conversation, and how its results are read. */
export interface UiMessagesInput {
  readonly conversation: string
  /** Where larger results are; the store's own spool unless given. */
  readonly spool?: Pick<SpoolStore, 'read'>
  /** Artifact classes of the application. */
  readonly artifacts?: readonly SpooledArtifactConstructor[]
}

const MEMBERS = ['conversation', 'spool', 'artifacts']

/**
 * A conversation as the messages with which `useChat` begins: everything stored now, also of a turn that still runs. Empty if
 * there is no such conversation.
 */
export async function uiMessages(store: Store, input: UiMessagesInput): Promise<UiMessage[]> {
  requireStore(store)
  requireOptions('uiMessages', input, MEMBERS)
  const { spool, artifacts } = input
  const conversation = conversationId(input.conversation)
  if ((await store.conversation(conversation)) === undefined) return []
  const source = {
    store,
    conversation,
    live: () => liveFeed(store, conversation),
    restore: restoreFrom(store, spool, artifacts),
    now: () => systemClock.now(),
  }
  return messagesOf(new Feed(source, { seq: 0, n: 0 }).stored())
}

/** The page after these events, which begin with a turn. */
async function messagesOf(events: AsyncIterable<FeedEvent>): Promise<UiMessage[]> {
  const chunks = new UiChunks(6)
  const page = new PageState()
  for await (const event of events) {
    if (event.type === 'message' && 'role' in event && event.role === 'user') {
      page.asked(event.id, event.text)
    }
    if (event.type === 'rewind') page.rewind(event.message)
    for (const chunk of await chunks.take(event)) page.take(chunk)
  }
  return page.messages
}
