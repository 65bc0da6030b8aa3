import { requireOptions } from '../core/error/wrong-input.ts'
import { followConversation, requireStore } from '../store/feed/follow-conversation.ts'
import { runningTurn } from '../store/feed/turn-chain.ts'
import { positionAt } from '../store/position.ts'
import { conversationId } from '../store/rows/store-input.ts'
import type { Store } from '../store/store.ts'
import { type UiMessageOptions, uiMessageResponse } from './ui-message-response.ts'
import type { UiMessagesInput } from './ui-messages.ts'

const MEMBERS = ['conversation', 'spool', 'artifacts', 'heartbeatMs', 'ai']

/**
 * The answer to the request with which `useChat` resumes a stream: the message of the turn that runs, from its beginning,
 * whatever process runs it; status 204 if none runs.
 */
export async function uiReconnectResponse(
  store: Store,
  input: UiMessagesInput & UiMessageOptions,
): Promise<Response> {
  requireStore(store)
  requireOptions('uiReconnectResponse', input, MEMBERS)
  const { heartbeatMs, ai, ...follow } = input
  const conversation = conversationId(follow.conversation)
  const running = await runningTurn(store, conversation)
  const start = running && (await store.get(conversation, 'turn-start', running.first))
  if (start === undefined) return new Response(null, { status: 204 })
  const after = positionAt({ seq: start.seq - 1, n: 0 })
  const options = { ...(heartbeatMs !== undefined && { heartbeatMs }), ...(ai && { ai }) }
  return uiMessageResponse(followConversation(store, { ...follow, after }), options)
}
