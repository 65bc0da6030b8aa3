import type { GoogleGenAI, Interactions } from '@google/genai'
import { checkModelOptions } from '../../../model/check-model-options.ts'
import type { Model } from '../../../model/model.ts'
import { type WireModelOptions, wireModel } from '../../../model/wire-model.ts'
import { type KeyConnection, postWithKey } from '../key-connection.ts'
import { familyOf } from '../wire/model-version.ts'
import { interactions } from './protocol.ts'
import type { InteractionsBody, InteractionsParams } from './request.ts'

/** A model of the Interactions API, and what every request carries along. */
export interface InteractionsSettings {
  readonly model: string
  /** Tools that the provider runs, e.g. `{ type: 'google_search' }`. */
  readonly hostedTools?: readonly Interactions.Tool[]
  /** Other members of the request. They win over ours, `store: false` included. */
  readonly params?: InteractionsParams
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

/** Your client, with its proxy, retries and time-outs. It parses responses by itself. */
export interface ClientConnection {
  readonly client: Pick<GoogleGenAI, 'interactions' | 'vertexai'>
}

/** The model, and either a key or a client. With a key, responses are read as bytes. */
export type InteractionsOptions = InteractionsSettings & (ClientConnection | KeyConnection)

/** A model behind Gemini's Interactions API. */
export function geminiInteractions(options: InteractionsOptions): Model {
  checkModelOptions(options, {
    factory: 'geminiInteractions',
    members: ['interactions.create'],
    example: 'new GoogleGenAI({ … })',
    takesKey: true,
  })
  const { model, hostedTools, params, streaming = true, maxResponseBytes } = options
  const client = 'client' in options ? options.client : undefined
  return wireModel(interactions, {
    model,
    // Signatures are bound to the backend that made them.
    endpoint: client?.vertexai ? 'vertex' : 'developer',
    modelFamily: familyOf(model),
    stream: streaming,
    ...(hostedTools !== undefined && { hostedTools }),
    ...(params !== undefined && { params }),
    ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    send: client === undefined ? withKey(options as KeyConnection) : throughClient(client),
  })
}

type Send = WireModelOptions<InteractionsBody>['send']

function withKey(connection: KeyConnection): Send {
  return (body, { signal }) => postWithKey(connection, 'interactions', body, signal)
}

function throughClient(client: ClientConnection['client']): Send {
  return async (body, { signal }) => {
    const options = signal === undefined ? {} : { signal }
    if (body.stream === true) {
      const streamed = { ...body, stream: true } as const
      const given: object = await client.interactions.create(streamed, options)
      // A server that was asked to stream may still answer whole.
      if (Symbol.asyncIterator in given) return { events: given as AsyncIterable<unknown> }
      return { payload: withoutHttp(given) }
    }
    return {
      payload: withoutHttp(await client.interactions.create({ ...body, stream: false }, options)),
    }
  }
}

/** The client adds what it knows of the connection. */
function withoutHttp(given: object): object {
  const { sdkHttpResponse: _, ...payload } = given as { readonly sdkHttpResponse?: unknown }
  return payload
}
