import { isBobbinError } from '../core/error/error.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { checkStream, eventStream, type StreamOptions } from './event-stream.ts'

/**
 * A feed as server-sent events: the JSON of each event under its position as `id`. An `EventSource` that lost its
 * connection sends the last one as `Last-Event-ID`: pass it to `follow` as `after`. The event `end` follows the last
 * one; an event `failed` with a code says that the feed broke.
 */
export function feedResponse(
  feed: AsyncIterable<FeedEvent>,
  options: StreamOptions = {},
): Response {
  checkStream('feedResponse', feed, options, [])
  const lines = {
    event: (event: FeedEvent) => `id: ${event.position}\ndata: ${JSON.stringify(event)}\n\n`,
    end: () => 'event: end\ndata: {}\n\n',
    failed: (error: unknown) => {
      const code = isBobbinError(error) ? error.code : 'unknown'
      return `event: failed\ndata: ${JSON.stringify({ code })}\n\n`
    },
  }
  return eventStream(feed, lines, options)
}
