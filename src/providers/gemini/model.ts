import type { GenerateContentParameters, GoogleGenAI } from '@google/genai'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { type SendContext, wireModel } from '../../model/wire-model.ts'
import type { KeyConnection } from './key-connection.ts'
import { senderOf } from './over-http.ts'
import { generateContent } from './protocol.ts'
import type { RequestSettings } from './request.ts'
import { watchedBy } from './watched-fetch.ts'
import { familyOf } from './wire/model-version.ts'
import { VERTEX } from './wire/wire.ts'

interface ModelOptions extends RequestSettings {
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

interface OfClient {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: Pick<GoogleGenAI, 'models' | 'vertexai'>
}

/** A model of Gemini with Google's client, or with a key alone, and what every request carries along. */
export type GeminiOptions = ModelOptions &
  (
    | (OfClient & { readonly [name in keyof KeyConnection]?: undefined })
    | (KeyConnection & { readonly client?: undefined })
  )

/** A model behind Gemini's generateContent: of the Developer API or of Vertex AI with a client, of the former with a key. */
export function gemini(options: GeminiOptions): Model {
  checkModelOptions(options, {
    factory: 'gemini',
    members: ['models.generateContentStream', 'models.generateContent'],
    example: 'new GoogleGenAI({ … })',
    takesKey: true,
  })
  const { model, params, hostedTools, maxResponseBytes, streaming = true } = options
  const isVertex = options.client?.vertexai === true
  return wireModel(generateContent, {
    model,
    // Signatures are bound to the backend that made them.
    endpoint: isVertex ? VERTEX : 'developer',
    modelFamily: familyOf(model),
    ...(params !== undefined && { params }),
    ...(hostedTools !== undefined && { hostedTools }),
    ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    stream: streaming,
    send:
      options.client === undefined
        ? senderOf(options, streaming)
        : clientSender(options.client, params, streaming),
  })
}

function clientSender(
  client: OfClient['client'],
  params: RequestSettings['params'],
  streaming: boolean,
) {
  return async (body: GenerateContentParameters, { signal, watch }: SendContext) => {
    // The client parses chunks itself: their bytes are judged on the way to it.
    const httpOptions = watchedBy(watch, client, params)
    const abort = signal && { abortSignal: signal }
    const asked = { ...body, config: { ...body.config, httpOptions, ...abort } }
    if (streaming) return { events: await client.models.generateContentStream(asked) }
    return { payload: await client.models.generateContent(asked) }
  }
}
