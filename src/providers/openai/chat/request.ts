import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions'
import type { ModelRequest } from '../../../model/model.ts'
import type { BodyInput } from '../../../model/provider-definition.ts'
import type { ChatQuirks } from './wire/quirks.ts'
import type { ChatPart } from './wire/wire.ts'

/** Anything else that a request takes, in the client's own words. */
export type ChatParams = Omit<
  ChatCompletionCreateParamsBase,
  'messages' | 'model' | 'n' | 'stream' | 'tools'
>

/** The whole body: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody(
  { model, part, request, params, stream, ...given }: BodyInput<ChatPart>,
  { systemRole: role, streamUsage }: ChatQuirks,
): ChatCompletionCreateParamsBase {
  const hostedTools = (given.hostedTools ?? []) as readonly ChatCompletionTool[]
  const tools = [...functionsOf(request, hostedTools), ...hostedTools]
  const { instructions, toolChoice, output } = request
  const opening = instructions ? [{ role, content: instructions }] : []
  return {
    model,
    // Built from the SDK's message types; messages of the provider go back as they came.
    messages: [
      ...opening,
      ...part.messages,
    ] as unknown as ChatCompletionCreateParamsBase['messages'],
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
    ...(stream && streamUsage && { stream_options: { include_usage: true } }),
    ...params,
    stream,
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
