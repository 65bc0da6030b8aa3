import type OpenAI from 'openai'
import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions'
import { checkModelOptions } from '../../../model/check-model-options.ts'
import type { Model, ModelRequest } from '../../../model/model.ts'
import { replyOf } from '../../../model/stream-response.ts'
import { wireModel } from '../../../model/wire-model.ts'
import { failureOfClient } from '../fail.ts'
import { guardedOptions } from '../guarded-client.ts'
import { chatAdapterFor } from './adapter.ts'
import { CHAT_QUIRKS, type ChatQuirks } from './quirks.ts'
import type { ChatPart } from './wire.ts'

/** A client and a model of the Chat Completions API, and what every request carries along. */
export interface ChatOptions {
  /** Your client: it has the keys, the proxy, the retries and the time-outs, and the server's URL. */
  readonly client: OpenAI
  readonly model: string
  /** Tools that the provider defines, e.g. `{ type: 'custom', … }`. */
  readonly hostedTools?: readonly ChatCompletionTool[]
  /** Other members of the request. They win over ours. */
  readonly params?: Omit<
    ChatCompletionCreateParamsBase,
    'messages' | 'model' | 'n' | 'stream' | 'tools'
  >
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
  /** How a compatible server differs. */
  readonly quirks?: Partial<ChatQuirks>
}

/** A model behind OpenAI's Chat Completions API, or behind any server that speaks it. */
export function openaiChat(options: ChatOptions): Model {
  checkModelOptions(options, {
    factory: 'openaiChat',
    members: ['chat.completions.create'],
    example: 'new OpenAI()',
    options: ['quirks'],
  })
  const { client, model, params, streaming = true } = options
  const quirks = { ...CHAT_QUIRKS, ...options.quirks }
  const adapter = chatAdapterFor(quirks)
  return wireModel({
    adapter,
    model,
    endpoint: client.baseURL,
    modelFamily: familyOf(model),
    maxResponseBytes: options.maxResponseBytes,
    prepare: (part, request) => ({
      body: {
        ...bodyOf(part, request, options, quirks),
        ...(streaming && quirks.streamUsage && { stream_options: { include_usage: true } }),
        ...params,
        stream: streaming,
      },
    }),
    send: async (body, signal, guard) => {
      const sent = client.chat.completions.create(body, guardedOptions(client, guard, signal))
      return replyOf(await sent.asResponse(), streaming, guard)
    },
    fail: (error) => failureOfClient(adapter.api, error),
  })
}

/** The request without what the user sets; its type is the SDK's own. */
function bodyOf(
  { messages }: ChatPart,
  request: ModelRequest,
  { model, hostedTools = [] }: Pick<ChatOptions, 'model' | 'hostedTools'>,
  { systemRole: role }: ChatQuirks,
): ChatCompletionCreateParamsBase {
  const tools = [...functionsOf(request, hostedTools), ...hostedTools]
  const { instructions, toolChoice, output } = request
  const opening = instructions ? [{ role, content: instructions }] : []
  return {
    model,
    // Built from the SDK's message types; messages of the provider go back as they came.
    messages: [...opening, ...messages] as unknown as ChatCompletionCreateParamsBase['messages'],
    // Without tools the wire refuses the choice as well.
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 &&
      toolChoice !== undefined && {
        tool_choice:
          typeof toolChoice === 'string' ? toolChoice : toolNamed(toolChoice.tool, hostedTools),
      }),
    ...(output !== undefined && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: output.name, schema: { ...output.schema } },
      },
    }),
  }
}

function toolNamed(
  name: string,
  hosted: readonly ChatCompletionTool[],
): ChatCompletionToolChoiceOption {
  const isCustom = hosted.some((tool) => tool.type === 'custom' && tool.custom.name === name)
  return isCustom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
}

function functionsOf(
  { tools = [] }: ModelRequest,
  hosted: readonly ChatCompletionTool[],
): ChatCompletionTool[] {
  // A tool of ours that handles a custom tool is declared by the latter.
  const declared = new Set(
    hosted.map((tool) => (tool.type === 'custom' ? tool.custom.name : tool.function.name)),
  )
  return tools
    .filter(({ name }) => !declared.has(name))
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: { ...inputSchema } },
    }))
}

/** `gpt-5.4-2026-03-05` and `gpt-5.4` are one family. */
function familyOf(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}
