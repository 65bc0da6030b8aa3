/** How many bytes one message of a server may have. */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * A `fetch` whose responses end with an error when one message is too large: the client would hold it whole. In a stream
 * of events each event is a message, if streams are `streamed`; the answer to a refused request is always one message.
 */
export function boundedFetch(
  fetch: typeof globalThis.fetch,
  { bytes = MAX_BYTES, streamed = true } = {},
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const type = response.headers.get('content-type')
    const isStream = streamed && response.ok && type?.includes('text/event-stream') === true
    const { status, statusText, headers } = response
    const body = response.body.pipeThrough(limit(bytes, isStream))
    return new Response(body, { status, statusText, headers })
  }
}

/** Counts bytes; in a stream of events, anew after each empty line. */
function limit(bytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let count = 0
  let isLineEmpty = true
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        count += 1
        if (byte === LINE_FEED && isLineEmpty) count = 0
        if (byte !== CARRIAGE_RETURN) isLineEmpty = byte === LINE_FEED
        if (count > bytes) break
      }
      if (!isStream) count += chunk.length
      if (count > bytes) throw new Error(`a message has more than ${bytes} bytes`)
      controller.enqueue(chunk)
    },
  })
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
