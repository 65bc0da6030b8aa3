import { isBobbinError } from '../core/error.ts'
import { flatten } from './flatten.ts'
import { growingPart } from './growing-part.ts'
import type { Model, ModelCallOptions, ModelRequest } from './model.ts'
import { broken } from './sse.ts'
import { type EventBatches, type Reply, streamEvents, streamResponse } from './stream-response.ts'
import { randomSecret, syntheticIds } from './synthetic-id.ts'
import type { WireAdapter } from './wire-adapter.ts'

/** The connected half of a provider: the user's client behind two functions. */
export interface Connection<Part extends object> {
  readonly adapter: WireAdapter<Part>
  readonly model: string
  readonly endpoint?: string
  readonly modelFamily?: string
  /**
   * Sends one request; `part` is the conversation, the rest of the body is made from `request`. The
   * part is not read any more once the promise has settled: the next request goes on with its list.
   */
  send(part: Part, request: ModelRequest, signal: AbortSignal | undefined): Promise<Reply>
  /** Any error of the client as a `BobbinError`. Aborts never get here. */
  fail(error: unknown): unknown
}

/** Joins a pure adapter and a connection into the contract that the executor drives. */
export function wireModel<Part extends object>(connection: Connection<Part>): Model {
  const { adapter, model, endpoint, modelFamily } = connection
  const key = {
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  }
  const partOf = growingPart(adapter, key)

  async function* batches(
    request: ModelRequest,
    { signal, mint, onRepair }: ModelCallOptions = {},
  ): EventBatches {
    const { instructions } = request
    const { part, release } = partOf(request.items, { instructions, onRepair })
    const context = { mint: mint ?? syntheticIds({ secret: randomSecret() }), ...key }
    try {
      const reply = await connection.send(part, request, signal).finally(release)
      if (reply.kind === 'whole') {
        const { payload, source } = reply
        const told = source === undefined ? context : { ...context, source }
        const { finish } = adapter.decode(payload, told)
        if (finish === undefined) throw broken('unexpected-event', 'it is not a finished response')
        yield [finish]
      } else if (reply.kind === 'events') {
        yield* streamEvents(reply.events, adapter.decodeStream(context))
      } else if (reply.body === null) {
        throw broken('cut', 'it has no body')
      } else {
        yield* streamResponse(reply.body, adapter.decodeStream(context))
      }
    } catch (error) {
      // An abort is the caller's own doing and is passed on as it is.
      if (signal?.aborted || isBobbinError(error)) throw error
      throw connection.fail(error)
    }
  }

  return {
    api: adapter.api,
    provider: adapter.provider,
    model,
    ...key,
    stream: (...call) => flatten(batches(...call)),
  }
}
