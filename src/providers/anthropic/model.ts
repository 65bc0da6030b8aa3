import type Anthropic from '@anthropic-ai/sdk'
import type { Middleware } from '@anthropic-ai/sdk'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { wireModel } from '../../model/wire-model.ts'
import { messagesWith } from './protocol.ts'
import type { RequestSettings } from './request.ts'

/** A client and a model of the Messages API, and what every request carries along. */
export interface AnthropicMessagesOptions extends RequestSettings {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: Pick<Anthropic, 'baseURL' | 'beta' | 'messages'> &
    Partial<Pick<Anthropic, 'openTelemetry'>>
  /** Tells the time in milliseconds; the platform's clock when absent. */
  readonly now?: () => number
  /**
   * Whether the model checks what stands before its thinking, as Claude does from Fable 5.1 on. Thinking that it would
   * refuse is then left out. The name of the model tells when absent.
   */
  readonly boundThinking?: boolean
  /** True asks why less came from the cache than in the request before; `cacheMiss` of a `model-call` entry has the answer. */
  readonly diagnoseCache?: boolean
  /**
   * Whether changed instructions and tools are appended to the history as system messages, so that requests only grow.
   * When absent, the name of the model tells, at Anthropic's own hosts.
   */
  readonly appends?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

/** A model behind Anthropic's Messages API. With `params.betas` its beta half is used. */
export function anthropicMessages(options: AnthropicMessagesOptions): Model {
  checkModelOptions(options, {
    factory: 'anthropicMessages',
    members: ['messages.create', 'beta.messages.create'],
    example: 'new Anthropic()',
    options: ['now', 'boundThinking', 'cache', 'diagnoseCache', 'appends'],
    refuses: {
      params: ['temperature', 'top_p', 'top_k'],
      because:
        'version 2026-10-21 of the API, the default of SDK 1.x, refuses `temperature`, `top_p` and `top_k`; with an older version put it under `params`',
    },
  })
  const { client, streaming = true, now = Date.now, boundThinking, ...settings } = options
  return wireModel(messagesWith({ now, boundThinking }), {
    ...settings,
    endpoint: client.baseURL,
    modelFamily: familyOf(settings.model),
    stream: streaming,
    traces: client.openTelemetry?.traces.enabled === true,
    send: (body, { signal, watch }) => {
      // The client reads error bodies by itself, whole.
      const watching: Middleware = async (sent, next) => {
        const response = await next(sent)
        return response.ok ? response : watch(response)
      }
      const how = { middleware: [watching], ...(signal !== undefined && { signal }) }
      const sent =
        body.betas === undefined
          ? client.messages.create(body as Anthropic.MessageCreateParams, how)
          : client.beta.messages.create(body, how)
      return sent.asResponse()
    },
  })
}

/** Signatures hold within a family: `claude` in `claude-opus-4-6` and `us.anthropic.claude-opus-4-6`. */
function familyOf(model: string): string {
  const name = model.split(/[./]/).findLast((word) => /^[a-z]{2}/i.test(word)) ?? model
  return (/^[a-z]+/i.exec(name)?.[0] ?? model).toLowerCase()
}
