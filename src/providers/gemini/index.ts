import type { GoogleGenAI } from '@google/genai'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { wireModel } from '../../model/wire-model.ts'
import { geminiAdapter } from './adapter.ts'
import { failureOfClient } from './fail.ts'
import { familyOf } from './model-version.ts'
import { type RequestSettings, requestParams } from './request.ts'
import { watchedBy } from './watched-fetch.ts'

export type { GeminiParams, RequestSettings } from './request.ts'

/** A client and a model of Gemini, and what every request carries along. */
export interface GeminiOptions extends RequestSettings {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: Pick<GoogleGenAI, 'models' | 'vertexai'>
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

/** A model behind Gemini's generateContent, of the Developer API or of Vertex AI. */
export function gemini(options: GeminiOptions): Model {
  checkModelOptions(options, {
    factory: 'gemini',
    members: ['models.generateContentStream', 'models.generateContent'],
    example: 'new GoogleGenAI({ … })',
  })
  const { client, model, streaming = true } = options
  return wireModel({
    adapter: geminiAdapter,
    model,
    // Signatures are bound to the backend that made them.
    endpoint: client.vertexai ? 'vertex' : 'developer',
    modelFamily: familyOf(model),
    maxResponseBytes: options.maxResponseBytes,
    prepare: (part, request) => ({ body: requestParams(part, request, options) }),
    send: async (body, signal, guard) => {
      // The client parses chunks itself: their bytes are judged on the way to it.
      const httpOptions = watchedBy(guard, client, options.params)
      const abort = signal && { abortSignal: signal }
      const params = { ...body, config: { ...body.config, httpOptions, ...abort } }
      if (streaming)
        return { kind: 'events', events: await client.models.generateContentStream(params) }
      return { kind: 'whole', payload: await client.models.generateContent(params) }
    },
    fail: failureOfClient,
  })
}
