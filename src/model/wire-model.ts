import { sha256Hex } from '#hash'
import { isBobbinError } from '../core/error/error.ts'
import { canonicalStringify } from '../core/json/canonical.ts'
import type { Model, ModelCallOptions, ModelRequest } from './model.ts'
import { ResponseGuard } from './response-guard.ts'
import { broken } from './sse.ts'
import { type EventBatches, type Reply, streamEvents, streamResponse } from './stream-response.ts'
import { flatten } from './wire/flatten.ts'
import { randomSecret, syntheticIds } from './wire/synthetic-id.ts'
import type { DecodeContext, WireAdapter } from './wire/wire-adapter.ts'

/** One request, ready to be sent. */
export interface PreparedRequest<Body extends object> {
  /** What the client is given. */
  readonly body: Body
  readonly binder?: DecodeContext['binder']
}

/** The connected half of a provider: the user's client behind three functions. */
export interface Connection<Part extends object, Body extends object> {
  readonly adapter: WireAdapter<Part>
  readonly model: string
  readonly endpoint?: string
  readonly modelFamily?: string
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number | undefined
  /** Makes one request; `part` is the conversation, the rest of the body is made from `request`. */
  prepare(
    part: Part,
    request: ModelRequest,
    options: Pick<ModelCallOptions, 'onRepair'>,
  ): PreparedRequest<Body>
  /** Sends it. Bodies that the client reads by itself, those of errors above all, go through the guard. */
  send(body: Body, signal: AbortSignal | undefined, guard: ResponseGuard): Promise<Reply>
  /** Any error of the client as a `BobbinError`. Aborts never get here. */
  fail(error: unknown): unknown
}

/** Joins a pure adapter and a connection into the contract that the executor drives. */
export function wireModel<Part extends object, Body extends object>(
  connection: Connection<Part, Body>,
): Model {
  const { adapter, model, endpoint, modelFamily } = connection
  const key = {
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  }

  async function* batches(
    request: ModelRequest,
    { signal: outer, mint, onRepair, onRequest }: ModelCallOptions = {},
  ): EventBatches {
    const listeners = onRepair ? { onRepair } : {}
    const part = adapter.encode(request.items, { ...key, ...listeners })
    const { body, binder } = connection.prepare(part, request, listeners)
    const context: DecodeContext = {
      mint: mint ?? syntheticIds({ secret: randomSecret() }),
      ...key,
      ...(binder && { binder }),
    }
    if (onRequest) tellDigest(body, onRequest)
    const { signal, release } = ownSignal(outer)
    const guard = new ResponseGuard(adapter.api, connection.maxResponseBytes)
    try {
      const reply = await connection.send(body, signal, guard)
      if (reply.kind === 'whole') {
        const { payload, source } = reply
        const { finish } = adapter.decode(
          source === undefined ? guard.parsed(payload) : payload,
          source === undefined ? context : { ...context, source },
        )
        if (finish === undefined) throw broken('unexpected-event', 'it is not a finished response')
        yield guard.pass([finish])
      } else if (reply.kind === 'events') {
        yield* streamEvents(reply.events, adapter.decodeStream(context), guard)
      } else if (reply.body === null) {
        throw broken('cut', 'it has no body')
      } else {
        yield* streamResponse(reply.body, adapter.decodeStream(context), guard)
      }
    } catch (error) {
      // An abort is the caller's own doing and is passed on as it is.
      if (signal?.aborted || isBobbinError(error)) throw error
      throw guard.fault ?? connection.fail(error)
    } finally {
      release()
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

function tellDigest(body: object, tell: NonNullable<ModelCallOptions['onRequest']>): void {
  let text: string
  try {
    text = canonicalStringify(body)
  } catch {
    // It is for the client to refuse what is no JSON.
    return
  }
  tell({ digest: sha256Hex(text) })
}

/** A signal for one request: clients leave listeners on the signals they are given. */
function ownSignal(outer: AbortSignal | undefined) {
  if (outer === undefined) return { signal: undefined, release: () => {} }
  const controller = new AbortController()
  const abort = () => controller.abort(outer.reason)
  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    release: () => outer.removeEventListener('abort', abort),
  }
}
