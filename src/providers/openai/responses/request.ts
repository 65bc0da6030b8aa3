import type { ResponseCreateParamsBase, Tool } from 'openai/resources/responses/responses'
import type { ModelRequest } from '../../../model/model.ts'
import type { BodyInput } from '../../../model/provider-definition.ts'
import type { ToolDefinition } from '../../../model/tool-definition.ts'
import { isAt } from '../../../model/wire/is-at.ts'
import { takesBreakpoints, withBreakpoints } from '../cache-breakpoints.ts'
import { cacheKeyMember } from '../cache-key.ts'
import type { ResponsesPart } from './wire/wire.ts'

/** Anything else that a request takes, in the client's own words. */
export type ResponsesParams = Omit<ResponseCreateParamsBase, 'input' | 'model' | 'stream' | 'tools'>

/** The whole body: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody({
  model,
  part,
  request,
  params,
  stream,
  ...given
}: BodyInput<ResponsesPart>): ResponseCreateParamsBase {
  const hostedTools = (given.hostedTools ?? []) as readonly Tool[]
  const tools = [...functionsOf(request, hostedTools), ...hostedTools]
  const instructions = [request.instructions, part.instructions].filter(Boolean).join('\n\n')
  const { toolChoice, output } = request
  const isCached = given.cache ?? isAt(given.endpoint, 'openai.com')
  const input =
    isCached && takesBreakpoints(model) ? withBreakpoints(part.input, 'input_text') : part.input
  const compared = comparison(given.compareWith, params)
  return {
    model,
    // Built from the SDK's item types; items of the provider go back as they came.
    input: input as unknown as NonNullable<ResponseCreateParamsBase['input']>,
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
    // xAI documents it for this protocol too. The model's own breakpoint stands after the newest message.
    ...cacheKeyMember(given, isAt(given.endpoint, 'openai.com', 'x.ai')),
    ...params,
    ...(compared && { prompt_cache_options: compared }),
    stream,
  }
}

/** Asks why less came from the cache than in the request of an earlier response. The types of the client do not know it yet. */
function comparison(
  id: string | null | undefined,
  params: ResponsesParams | undefined,
): ResponseCreateParamsBase['prompt_cache_options'] {
  if (!id) return undefined
  const given = params?.prompt_cache_options
  const asked: object = { comparison_response_id: id, ...given }
  return asked
}

function functionsOf({ tools = [] }: ModelRequest, hosted: readonly Tool[]): Tool[] {
  // A tool of ours that handles a hosted type (`apply_patch`, `shell`) is declared by that type.
  const declared = new Set(hosted.map((tool) => ('name' in tool ? tool.name : tool.type)))
  return tools.filter(({ name }) => !declared.has(name)).map(functionParam)
}

/** A tool of ours in the words of the wire. */
export function functionParam({ name, description, inputSchema }: ToolDefinition): Tool {
  return {
    type: 'function',
    name,
    description,
    parameters: { ...inputSchema },
    strict: false,
  }
}

function isReasoning(model: string): boolean {
  return /^(o\d|gpt-([5-9]|\d\d)|codex)/.test(model) && !model.includes('-chat')
}
