import type { GoogleGenAI } from '@google/genai'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { wireModel } from '../../model/wire-model.ts'
import { generateContent } from './protocol.ts'
import type { RequestSettings } from './request.ts'
import { watchedBy } from './watched-fetch.ts'
import { familyOf } from './wire/model-version.ts'

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
  const { client, streaming = true, ...settings } = options
  return wireModel(generateContent, {
    ...settings,
    // Signatures are bound to the backend that made them.
    endpoint: client.vertexai ? 'vertex' : 'developer',
    modelFamily: familyOf(settings.model),
    stream: streaming,
    send: async (body, { signal, watch }) => {
      // The client parses chunks itself: their bytes are judged on the way to it.
      const httpOptions = watchedBy(watch, client, settings.params)
      const abort = signal && { abortSignal: signal }
      const params = { ...body, config: { ...body.config, httpOptions, ...abort } }
      if (streaming) return { events: await client.models.generateContentStream(params) }
      return { payload: await client.models.generateContent(params) }
    },
  })
}
