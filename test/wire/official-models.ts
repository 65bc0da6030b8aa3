import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { Model } from '../../src/model/model.ts'
import { anthropicMessages } from '../../src/providers/anthropic/index.ts'
import { foundry } from '../../src/providers/foundry/index.ts'
import { gemini } from '../../src/providers/gemini/index.ts'
import { openaiChat, openaiResponses } from '../../src/providers/openai/index.ts'
import type { WireApi } from '../../src/wire/index.ts'

const openai = (baseURL: string) => new OpenAI({ apiKey: 'x', baseURL, maxRetries: 0 })

/** Each protocol behind the official client that speaks it. */
export const officialModels: Readonly<
  Record<WireApi, (url: string, streaming?: boolean) => Model>
> = {
  'openai-responses': (url, streaming = true) =>
    openaiResponses({ client: openai(url), model: 'm', streaming }),
  'openai-chat': (url, streaming = true) =>
    openaiChat({ client: openai(url), model: 'm', streaming }),
  foundry: (url, streaming = true) => foundry({ client: openai(url), model: 'm', streaming }),
  'anthropic-messages': (url, streaming = true) =>
    anthropicMessages({
      client: new Anthropic({ apiKey: 'x', baseURL: url, maxRetries: 0 }),
      model: 'm',
      streaming,
    }),
  gemini: (url, streaming = true) =>
    gemini({
      client: new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: url } }),
      model: 'm',
      streaming,
    }),
}
