import type Anthropic from '@anthropic-ai/sdk'
import { checkModelOptions } from '../../model/check-model-options.ts'
import type { Model } from '../../model/model.ts'
import { replyOf } from '../../model/stream-response.ts'
import { wireModel } from '../../model/wire-model.ts'
import { messagesAdapterWith } from './adapter.ts'
import { failureOfClient } from './fail.ts'
import { type RequestSettings, requestBody } from './request.ts'

export type { HostedTool, MessagesParams } from './request.ts'

/** A client and a model of the Messages API, and what every request carries along. */
export interface AnthropicMessagesOptions extends RequestSettings {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: Pick<Anthropic, 'baseURL' | 'beta' | 'messages'>
  /** Tells the time in milliseconds; the platform's clock when absent. */
  readonly now?: () => number
}

/** A model behind Anthropic's Messages API. With `params.betas` its beta half is used. */
export function anthropicMessages(options: AnthropicMessagesOptions): Model {
  checkModelOptions(options, {
    factory: 'anthropicMessages',
    members: ['messages.create', 'beta.messages.create'],
    example: 'new Anthropic()',
  })
  const { client, model, params, streaming = true, now = Date.now } = options
  return wireModel({
    adapter: messagesAdapterWith({ now }),
    model,
    endpoint: client.baseURL,
    modelFamily: familyOf(model),
    send: async (part, request, signal) => {
      const body = requestBody(part, request, options)
      const settings = signal === undefined ? {} : { signal }
      const sent =
        params?.betas === undefined
          ? client.messages.create(body as Anthropic.MessageCreateParams, settings)
          : client.beta.messages.create(body, settings)
      const response = await sent.asResponse()
      return replyOf(response, streaming)
    },
    fail: failureOfClient,
  })
}

/** Signatures hold within a family: `claude` in `claude-opus-4-6` and `us.anthropic.claude-opus-4-6`. */
function familyOf(model: string): string {
  const name = model.split(/[./]/).findLast((word) => /^[a-z]{2}/i.test(word)) ?? model
  return (/^[a-z]+/i.exec(name)?.[0] ?? model).toLowerCase()
}
