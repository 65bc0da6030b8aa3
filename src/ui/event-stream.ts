import { isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'

/** How a response is kept alive. */
export interface StreamOptions {
  /** How often a comment is sent, so that proxies keep the stream open; 15,000 unless given. */
  readonly heartbeatMs?: number
}

const DEFAULT_HEARTBEAT_MS = 15_000
const HEARTBEAT = ': keep-alive\n\n'

/** Checks what a response is made of. A timer takes `NaN` and numbers that are too large for 1. */
export function checkStream(of: string, feed: unknown, options: unknown, names: string[]): void {
  const isFeed = isObject(feed) && Symbol.asyncIterator in feed
  if (!isFeed) throw wrongInput(of, 'feed', 'must be a turn handle, or what `runner.follow` gives')
  requireOptions(of, options, ['heartbeatMs', ...names])
  const { heartbeatMs = DEFAULT_HEARTBEAT_MS } = options as StreamOptions
  if (typeof heartbeatMs !== 'number' || !(heartbeatMs >= 1 && heartbeatMs < 2 ** 31)) {
    throw wrongInput(of, 'heartbeatMs', 'must be a number of milliseconds from 1 to 2,147,483,647')
  }
}

/** How events become text. */
export interface Lines {
  event(event: FeedEvent): string | Promise<string>
  /** After the last event. */
  end(): string
  /** Instead of it, if the feed breaks. */
  failed(error: unknown): string
}

/**
 * A response with server-sent events. It reads the feed as fast as the client reads it, and leaves the feed when the
 * client leaves; the turn continues.
 */
export function eventStream(
  feed: AsyncIterable<FeedEvent>,
  lines: Lines,
  { heartbeatMs = DEFAULT_HEARTBEAT_MS }: StreamOptions,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const encoder = new TextEncoder()
  const events = feed[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setInterval> | undefined
  let isLeft = false
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const send = (text: string) => {
        if (!isLeft) controller.enqueue(encoder.encode(text))
      }
      const close = (text: string) => {
        clearInterval(timer)
        send(text)
        if (!isLeft) controller.close()
      }
      // While something unread lies in the queue, the client is slow and needs no comment.
      timer ??= setInterval(() => {
        if (controller.desiredSize === 0) send(HEARTBEAT)
      }, heartbeatMs)
      try {
        // A read that adds nothing would not be asked for again.
        for (let text = ''; text === ''; ) {
          const next = await events.next()
          if (next.done === true) return close(lines.end())
          text = await lines.event(next.value)
          if (text !== '') send(text)
        }
      } catch (error) {
        close(lines.failed(error))
      }
    },
    cancel() {
      isLeft = true
      clearInterval(timer)
      // A feed that waits for its next event may leave only then.
      Promise.resolve(events.return?.()).catch(() => {})
    },
  }
  // Nothing is read ahead: an unread response costs nothing.
  const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      // Proxies such as nginx pass each event on at once.
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}
