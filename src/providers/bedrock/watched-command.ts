import type { SendContext } from '../../model/wire-model.ts'

/** The response as the client's middleware receives it: its body is unread. */
interface Received {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  body?: unknown
}

type Next = (args: object) => Promise<{ readonly response: unknown }>

/** A command of the client, as far as it is needed to look at its response. */
interface Command {
  readonly middlewareStack: {
    add(
      middleware: (next: Next) => Next,
      options: { readonly step: 'deserialize'; readonly priority: 'low'; readonly name: string },
    ): void
  }
}

/**
 * Takes the response out of the client's hands: it is read here, as strictly as those of other providers, and the
 * client gets an empty one. The body of an error is the client's to read, and bounded.
 */
export function watched(command: object, isStream: boolean, watch: SendContext['watch']) {
  let taken: Response | undefined
  ;(command as Command).middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const received = result.response as Received
      // The client treats a redirect as an error, too, and reads its body.
      if (received.statusCode >= 300) {
        const bounded = watch(responseOf(received))
        received.body = new Uint8Array(await bounded.arrayBuffer())
      } else {
        taken = responseOf(received)
        received.body = isStream ? nothing() : new TextEncoder().encode('{}')
      }
      return result
    },
    { step: 'deserialize', priority: 'low', name: 'bobbinReader' },
  )
  return { taken: () => taken }
}

async function* nothing(): AsyncGenerator<never> {}

function responseOf({ statusCode, headers, body }: Received): Response {
  const type = headers['content-type'] ?? ''
  return new Response(decompressed(streamOf(body), headers['content-encoding']), {
    status: statusCode,
    headers: { 'content-type': type },
  })
}

/** The client asks for nothing compressed and decompresses nothing; something in between may compress all the same. */
function decompressed(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  encoding: string | undefined,
) {
  if (body === null || (encoding !== 'gzip' && encoding !== 'deflate')) return body
  return body.pipeThrough(new DecompressionStream(encoding))
}

/** A body as the platform's stream: Node's client has its own kind. */
function streamOf(body: unknown): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  if (body === undefined || body === null) return null
  if (body instanceof ReadableStream) return body as ReadableStream<Uint8Array<ArrayBuffer>>
  if (body instanceof Uint8Array) return new Response(body as Uint8Array<ArrayBuffer>).body
  const chunks = (body as AsyncIterable<Uint8Array<ArrayBuffer>>)[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const next = await chunks.next()
      // A stream of HTTP/2 that was torn down ends like one that is complete.
      if (next.done && (body as { readonly readableEnded?: boolean }).readableEnded === false) {
        throw new Error('The connection was closed within the response.')
      }
      if (next.done) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}
