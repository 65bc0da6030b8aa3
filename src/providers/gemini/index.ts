import type { GoogleGenAI } from '@google/genai'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { wireModel } from '../../model/wire-model.ts'
import { geminiAdapter } from './adapter.ts'
import { failureOfClient } from './fail.ts'
import { familyOf } from './model-version.ts'
import { type RequestSettings, requestParams } from './request.ts'

export type { GeminiParams } from './request.ts'

/** A client and a model of Gemini, and what every request carries along. */
export interface GeminiOptions extends RequestSettings {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: Pick<GoogleGenAI, 'models' | 'vertexai'>
  /** False asks for whole responses. */
  readonly streaming?: boolean
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
    send: async (part, request, signal) => {
      const params = requestParams(part, request, options, signal)
      // The client parses chunks itself and gives no way to the bytes.
      if (streaming)
        return { kind: 'events', events: await client.models.generateContentStream(params) }
      return { kind: 'whole', payload: await client.models.generateContent(params) }
    },
    fail: failureOfClient,
  })
}
