import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { onTestFinished } from 'vitest'
import type { Finish } from '../../src/model/events/model-event.ts'
import type { Model, ModelCallOptions, ModelRequest } from '../../src/model/model.ts'
import { anthropicMessages } from '../../src/providers/anthropic/index.ts'
import { foundry } from '../../src/providers/foundry/index.ts'
import { gemini } from '../../src/providers/gemini/index.ts'
import { openaiChat, openaiResponses } from '../../src/providers/openai/index.ts'
import type { HistoryItem } from '../../src/records/history-item.ts'
import { type LoopbackScript, loopbackProvider } from '../../src/testing/index.ts'
import { type WireApi, wire } from '../../src/wire/index.ts'

/** What a factory takes besides the client; hosted tools and parameters are the provider's own. */
export interface ModelSettings {
  readonly model?: string
  readonly streaming?: boolean
  readonly hostedTools?: readonly object[]
  readonly params?: object
  readonly now?: () => number
  readonly maxResponseBytes?: number
  /** Of Claude alone. */
  readonly boundThinking?: boolean
}

type Factory = (url: string, settings?: ModelSettings) => Model

const openai = (make: (options: never) => Model): Factory => {
  return (baseURL, settings) => {
    const client = new OpenAI({ apiKey: 'x', baseURL, maxRetries: 0 })
    return make({ client, model: 'm', ...settings } as never)
  }
}

/** Each protocol with its official client. */
export const officialModels: Readonly<Record<WireApi, Factory>> = {
  'openai-responses': openai(openaiResponses),
  'openai-chat': openai(openaiChat),
  foundry: openai(foundry),
  'anthropic-messages': (baseURL, settings) => {
    const client = new Anthropic({ apiKey: 'x', baseURL, maxRetries: 0 })
    return anthropicMessages({ client, model: 'm', ...(settings as object) })
  },
  gemini: (baseUrl, settings) => {
    const client = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl } })
    return gemini({ client, model: 'm', ...(settings as object) })
  },
}

/** A model with its official client, at a loopback server that plays these exchanges in order. */
export async function connectModel(
  api: WireApi,
  exchanges: readonly LoopbackScript[],
  settings?: ModelSettings,
) {
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const open = (others: ModelSettings = {}) =>
    officialModels[api](server.url, { ...settings, ...others })
  const bodies = () => server.requests.map(({ body }) => body as Readonly<Record<string, unknown>>)
  return { server, model: open(), open, bodies }
}

/** Runs one round trip to its end. */
export async function finishOf(
  model: Model,
  request: ModelRequest,
  options?: ModelCallOptions,
): Promise<Finish> {
  let finish: Finish | undefined
  for await (const event of model.stream(request, options)) {
    if (event.type === 'finish') finish = event
  }
  if (finish === undefined) throw new Error('the finish is missing')
  return finish
}

/** The items with a result for every call. */
export function settled(items: readonly HistoryItem[]): readonly HistoryItem[] {
  const result = { isError: false, parts: [{ type: 'text' as const, text: '4 C' }] }
  return items.map((item) => (item.type === 'call' ? { ...item, result } : item))
}
