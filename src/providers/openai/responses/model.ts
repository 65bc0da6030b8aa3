import type OpenAI from 'openai'
import type { ResponseCreateParamsBase, Tool } from 'openai/resources/responses/responses'
import { checkModelOptions } from '../../../model/check-model-options.ts'
import type { Model, ModelRequest } from '../../../model/model.ts'
import { replyOf } from '../../../model/stream-response.ts'
import type { WireAdapter } from '../../../model/wire/wire-adapter.ts'
import { wireModel } from '../../../model/wire-model.ts'
import { failureOfClient } from '../fail.ts'
import { guardedOptions } from '../guarded-client.ts'
import { responsesAdapter } from './adapter.ts'
import type { ResponsesPart } from './wire.ts'

/** A client and a model of the Responses API, and what every request carries along. */
export interface ResponsesOptions {
  /** Your client: it has the keys, the proxy, the retries and the time-outs. */
  readonly client: OpenAI
  readonly model: string
  /** Tools that the provider runs or defines, e.g. `{ type: 'web_search' }`. */
  readonly hostedTools?: readonly Tool[]
  /** Other members of the request. They win over ours. */
  readonly params?: Omit<ResponseCreateParamsBase, 'input' | 'model' | 'stream' | 'tools'>
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
}

/** A model behind OpenAI's Responses API. */
export function openaiResponses(options: ResponsesOptions): Model {
  return responsesModel('openaiResponses', responsesAdapter, options)
}

/** The same for any service that speaks the protocol. */
export function responsesModel(
  factory: string,
  adapter: WireAdapter<ResponsesPart>,
  options: ResponsesOptions,
): Model {
  checkModelOptions(options, {
    factory,
    members: ['responses.create'],
    example: 'new OpenAI()',
  })
  const { client, model, hostedTools = [], params, streaming = true } = options
  return wireModel({
    adapter,
    model,
    endpoint: client.baseURL,
    modelFamily: familyOf(model),
    maxResponseBytes: options.maxResponseBytes,
    prepare: (part, request) => ({
      body: { ...bodyOf(part, request, model, hostedTools), ...params, stream: streaming },
    }),
    send: async (body, signal, guard) => {
      const sent = client.responses.create(body, guardedOptions(client, guard, signal))
      return replyOf(await sent.asResponse(), streaming, guard)
    },
    fail: (error) => failureOfClient(adapter.api, error),
  })
}

/** The request without what the user sets; its type is the SDK's own. */
function bodyOf(
  part: ResponsesPart,
  request: ModelRequest,
  model: string,
  hostedTools: readonly Tool[],
): ResponseCreateParamsBase {
  const tools = [...functionsOf(request, hostedTools), ...hostedTools]
  const instructions = [request.instructions, part.instructions].filter(Boolean).join('\n\n')
  const { toolChoice, output } = request
  return {
    model,
    // Built from the SDK's item types; items of the provider go back as they came.
    input: part.input as unknown as NonNullable<ResponseCreateParamsBase['input']>,
    // The conversation is kept here, so nothing needs to be stored there.
    store: false,
    ...(instructions !== '' && { instructions }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && {
      tool_choice:
        typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.tool },
    }),
    ...(output !== undefined && {
      text: { format: { type: 'json_schema', name: output.name, schema: { ...output.schema } } },
    }),
    // Without storage, reasoning can only come back if it is sent along, and others refuse to.
    ...(isReasoning(model) && { include: ['reasoning.encrypted_content'] }),
  }
}

function functionsOf({ tools = [] }: ModelRequest, hosted: readonly Tool[]): Tool[] {
  // A tool of ours that handles a hosted type (`apply_patch`, `shell`) is declared by that type.
  const declared = new Set(hosted.map((tool) => ('name' in tool ? tool.name : tool.type)))
  return tools
    .filter(({ name }) => !declared.has(name))
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: { ...inputSchema },
      strict: false,
    }))
}

/** `gpt-5.4-2026-03-05` and `gpt-5.4` are one family. */
function familyOf(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}

function isReasoning(model: string): boolean {
  return /^(o\d|gpt-([5-9]|\d\d)|codex)/.test(model) && !model.includes('-chat')
}
