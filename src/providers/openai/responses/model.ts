import type OpenAI from 'openai'
import type { ResponseCreateParamsBase, Tool } from 'openai/resources/responses/responses'
import { checkModelOptions } from '../../../model/check-model-options.ts'
import type { Model } from '../../../model/model.ts'
import type { ProviderDefinition } from '../../../model/provider-definition.ts'
import { wireModel } from '../../../model/wire-model.ts'
import { guardedOptions } from '../guarded-client.ts'
import { responses } from './protocol.ts'
import type { ResponsesParams } from './request.ts'
import type { ResponsesPart } from './wire/wire.ts'

/** A client and a model of the Responses API, and what every request carries along. */
export interface ResponsesOptions {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: OpenAI
  readonly model: string
  /** Tools that the provider runs or defines, e.g. `{ type: 'web_search' }`. */
  readonly hostedTools?: readonly Tool[]
  /** Other members of the request. They win over ours. */
  readonly params?: ResponsesParams
  /** False sends no `prompt_cache_key`. True sends it to any server; otherwise only those known to take it get one. */
  readonly cache?: boolean
  /**
   * True asks why less came from the cache than in the request before; `cacheMiss` of a `model-call` entry has the answer.
   * GPT-5.6 and later give one.
   */
  readonly diagnoseCache?: boolean
  /**
   * Whether changed instructions and added tools are appended to the history, so that requests only grow. When absent:
   * instructions at OpenAI's own hosts, and tools there from GPT-5.6 on.
   */
  readonly appends?: boolean
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

/** A model behind OpenAI's Responses API. */
export function openaiResponses(options: ResponsesOptions): Model {
  return responsesModel('openaiResponses', responses, options)
}

/** The same for any service that speaks the protocol. */
export function responsesModel(
  factory: string,
  protocol: ProviderDefinition<ResponsesPart, ResponseCreateParamsBase>,
  options: ResponsesOptions,
): Model {
  checkModelOptions(options, {
    factory,
    members: ['responses.create'],
    example: 'new OpenAI()',
    options: ['cache', ...(protocol.appends ? ['appends', 'diagnoseCache'] : [])],
  })
  const { client, streaming = true, ...settings } = options
  return wireModel(protocol, {
    ...settings,
    endpoint: client.baseURL,
    modelFamily: familyOf(settings.model),
    stream: streaming,
    send: (body, how) => client.responses.create(body, guardedOptions(client, how)).asResponse(),
    // A stream begins with its first event, unless `starting_after` names another.
    ...(streaming && {
      pickUp: (id, how) =>
        client.responses.retrieve(id, { stream: true }, guardedOptions(client, how)).asResponse(),
    }),
  })
}

/** `gpt-5.4-2026-03-05` and `gpt-5.4` are one family. */
function familyOf(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}
