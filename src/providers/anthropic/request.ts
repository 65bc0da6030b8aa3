import type Anthropic from '@anthropic-ai/sdk'
import type { ModelRequest } from '../../model/model.ts'
import type { BodyInput } from '../../model/provider-definition.ts'
import type { ToolChoice, ToolDefinition } from '../../model/tool-definition.ts'
import type { MessagesPart, TextParam } from './wire/wire.ts'

type Params = Anthropic.Beta.MessageCreateParams

/** A tool that the provider runs, or that it defines and the runner answers. */
export type HostedTool = Anthropic.Beta.BetaToolUnion

/** Anything else that a request takes, in the client's own words. */
export type MessagesParams = Partial<Omit<Params, 'messages' | 'model' | 'stream' | 'tools'>>

/** What each request to the provider is made with. */
export interface RequestSettings {
  readonly model: string
  /** Tools that the provider runs or defines, e.g. `{ type: 'web_search_20250305', name: 'web_search' }`. */
  readonly hostedTools?: readonly HostedTool[]
  /** Other members of the request. They win over ours. */
  readonly params?: MessagesParams
  /** False sets no cache markers. Markers of your own, in `params` or on hosted tools, also keep ours out. */
  readonly cache?: boolean
  /** False asks for whole responses. */
  readonly streaming?: boolean
}

// The wire wants a limit. This one leaves room for long arguments, and is still short enough for the
// client to send without streaming.
const MAX_TOKENS = 16_384

/** The whole body: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody({
  model,
  part,
  request,
  stream,
  ...given
}: BodyInput<MessagesPart>): Params {
  const params: MessagesParams = given.params ?? {}
  const hostedTools = (given.hostedTools ?? []) as readonly HostedTool[]
  const tools = [...customTools(request, hostedTools), ...hostedTools]
  const system = systemOf(request.instructions, part.system, params.system)
  const container = containerOf(part.container, params.container)
  const { toolChoice, output } = request
  return {
    max_tokens: MAX_TOKENS,
    // Without tools the wire refuses the choice as well.
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && toolChoice !== undefined && { tool_choice: choiceParam(toolChoice) }),
    ...params,
    ...(output !== undefined && {
      output_config: {
        format: { type: 'json_schema', schema: { ...output.schema } },
        ...params.output_config,
      },
    }),
    ...(system !== undefined && { system }),
    ...(container !== undefined && { container }),
    ...(given.compareWith !== undefined && {
      diagnostics: { previous_message_id: given.compareWith },
    }),
    model,
    messages: part.messages,
    stream,
  }
}

/** Tools of ours that answer the provider's own (`bash`, `computer_screenshot`) are declared by those. */
function customTools({ tools = [] }: ModelRequest, hosted: readonly HostedTool[]): HostedTool[] {
  const names = new Set(hosted.flatMap((tool) => ('name' in tool ? tool.name : [])))
  const toolsets = hosted.flatMap(({ type }) => /^(.+)_toolset_\d+$/.exec(type ?? '')?.[1] ?? [])
  return tools
    .filter(({ name }) => !names.has(name))
    .filter(({ name }) => !toolsets.some((toolset) => name.startsWith(`${toolset}_`)))
    .map(toolParam)
}

/** A tool of ours in the words of the wire. */
export function toolParam({ name, description, inputSchema }: ToolDefinition): HostedTool {
  return { name, description, input_schema: { ...inputSchema, type: 'object' } }
}

function choiceParam(choice: ToolChoice): Anthropic.Beta.BetaToolChoice {
  if (choice === 'required') return { type: 'any' }
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.tool }
}

function systemOf(
  ...texts: readonly (string | readonly TextParam[] | undefined)[]
): string | TextParam[] | undefined {
  const given = texts.filter((text) => text !== undefined && text.length > 0)
  const [first] = given
  if (given.length <= 1 && !Array.isArray(first)) return first as string | undefined
  return given.flatMap((text) =>
    typeof text === 'string' ? [{ type: 'text', text }] : (text as TextParam[]),
  )
}

/** The sandbox in use, with the skills that the user wants in it. */
function containerOf(id: string | undefined, given: Params['container']): Params['container'] {
  if (id === undefined || typeof given === 'string') return given
  return given === undefined || given === null ? id : { ...given, id: given.id ?? id }
}
