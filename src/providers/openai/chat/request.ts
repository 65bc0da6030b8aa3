import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions'
import type { ModelRequest } from '../../../model/model.ts'
import type { BodyInput } from '../../../model/provider-definition.ts'
import { isAt } from '../../../model/wire/is-at.ts'
import { takesBreakpoints, withBreakpoints } from '../cache-breakpoints.ts'
import { cacheKeyMember } from '../cache-key.ts'
import type { ChatQuirks } from './wire/quirks.ts'
import type { ChatPart } from './wire/wire.ts'

/** Anything else that a request takes, in the client's own words. */
export type ChatParams = Omit<
  ChatCompletionCreateParamsBase,
  'messages' | 'model' | 'n' | 'stream' | 'tools'
>

/** The whole body: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody(
  { model, part, request, params = {}, stream, ...given }: BodyInput<ChatPart>,
  quirks: ChatQuirks,
): ChatCompletionCreateParamsBase {
  const hostedTools = (given.hostedTools ?? []) as readonly ChatCompletionTool[]
  const { systemRole: role, streamUsage, promptCacheKey } = quirks
  const instructions = instructionsFor(request, quirks)
  const opening = instructions ? [{ role, content: instructions }] : []
  const isCached = given.cache ?? isAt(given.endpoint, 'openai.com')
  const messages =
    isCached && takesBreakpoints(model) ? withBreakpoints(part.messages, 'text') : part.messages
  return {
    model,
    // Built from the SDK's message types; messages of the provider go back as they came.
    messages: [...opening, ...messages] as unknown as ChatCompletionCreateParamsBase['messages'],
    ...toolMembers(request, hostedTools, quirks),
    ...outputMember(request, quirks),
    ...(stream && streamUsage && { stream_options: { include_usage: true } }),
    ...cacheKeyMember(given, promptCacheKey || isAt(given.endpoint, 'openai.com')),
    ...renamed(params, quirks),
    stream,
  }
}

/** Without tools the wire refuses the choice as well. */
function toolMembers(
  request: ModelRequest,
  hosted: readonly ChatCompletionTool[],
  { namedToolChoice }: ChatQuirks,
): Pick<ChatCompletionCreateParamsBase, 'tools' | 'tool_choice'> {
  const tools = [...functionsOf(request, hosted), ...hosted]
  const { toolChoice } = request
  if (tools.length === 0) return {}
  if (toolChoice === undefined || typeof toolChoice === 'string') {
    return { tools, ...(toolChoice !== undefined && { tool_choice: toolChoice }) }
  }
  if (namedToolChoice) return { tools, tool_choice: toolNamed(toolChoice.tool, hosted) }
  const named = tools.filter((tool) => nameOf(tool) === toolChoice.tool)
  return { tools: named.length > 0 ? named : tools, tool_choice: 'required' }
}

function instructionsFor({ instructions, output }: ModelRequest, { outputFormat }: ChatQuirks) {
  if (output === undefined || outputFormat === 'json_schema') return instructions
  const schema = JSON.stringify(output.schema)
  const wanted = `Answer with one JSON object that fits this JSON Schema, and nothing else: ${schema}`
  return instructions ? `${instructions}\n\n${wanted}` : wanted
}

function outputMember(
  { output }: ModelRequest,
  { outputFormat }: ChatQuirks,
): Pick<ChatCompletionCreateParamsBase, 'response_format'> {
  if (output === undefined) return {}
  if (outputFormat === 'json_object') return { response_format: { type: 'json_object' } }
  const json_schema = { name: output.name, schema: { ...output.schema } }
  return { response_format: { type: 'json_schema', json_schema } }
}

function renamed(params: object, { renames }: ChatQuirks): object {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      (Object.hasOwn(renames, name) && renames[name]) || name,
      value,
    ]),
  )
}

const nameOf = (tool: ChatCompletionTool) =>
  tool.type === 'custom' ? tool.custom.name : tool.function.name

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
  const declared = new Set(hosted.map(nameOf))
  return tools
    .filter(({ name }) => !declared.has(name))
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: { ...inputSchema } },
    }))
}
