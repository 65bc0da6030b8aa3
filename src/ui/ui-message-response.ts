import { isBobbinError } from '../core/error/error.ts'
import { wrongInput } from '../core/error/wrong-input.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { checkStream, eventStream, type StreamOptions } from './event-stream.ts'
import type { UiChunk } from './ui-chunk.ts'
import { type AiVersion, UiChunks } from './ui-chunks.ts'

/** How a page is served. */
export interface UiMessageOptions extends StreamOptions {
  /**
   * The major version of `ai` on the page; 6 unless given. Pages of version 7 also get `reset-step` and
   * `steering-message`, which version 6 refuses.
   */
  readonly ai?: AiVersion
}

/**
 * A turn as the AI SDK's UI message stream: the answer to what `useChat` sends. Give it the handle of a turn, or a feed
 * that begins with a turn.
 */
export function uiMessageResponse(
  feed: AsyncIterable<FeedEvent>,
  options: UiMessageOptions = {},
): Response {
  checkStream('uiMessageResponse', feed, options, ['ai'])
  const { ai = 6 } = options
  if (ai !== 6 && ai !== 7) throw wrongInput('uiMessageResponse', 'ai', 'must be 6 or 7')
  const chunks = new UiChunks(ai)
  return eventStream(
    feed,
    {
      event: async (event) => (await chunks.take(event)).map(line).join(''),
      end: () => DONE,
      failed: (error) => `${line({ type: 'error', errorText: failure(error) })}${DONE}`,
    },
    options,
    { 'x-vercel-ai-ui-message-stream': 'v1' },
  )
}

const DONE = 'data: [DONE]\n\n'

const line = (chunk: UiChunk): string => `data: ${JSON.stringify(chunk)}\n\n`

/** The error text of a feed that broke: its code only, because its message may hold what a page must not see. */
function failure(error: unknown): string {
  return `The stream ended early (${isBobbinError(error) ? error.code : 'unknown'}).`
}
