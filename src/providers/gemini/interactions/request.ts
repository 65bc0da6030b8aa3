import type { Interactions } from '@google/genai'
import type { ModelRequest } from '../../../model/model.ts'
import type { BodyInput } from '../../../model/provider-definition.ts'
import type { ToolChoice } from '../../../model/tool-definition.ts'
import { asObject } from '../../../model/wire/wire-value.ts'
import type { InteractionsPart } from './wire/wire.ts'

/** The body of a request, in the client's own words. */
export type InteractionsBody = Interactions.CreateModelInteractionParamsNonStreaming & {
  readonly stream?: boolean
}

/** Anything else that a request takes, in the client's own words. */
export type InteractionsParams = Partial<
  Omit<
    Interactions.CreateModelInteractionParamsNonStreaming,
    'input' | 'model' | 'stream' | 'tools'
  >
>

/** The whole request: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody({
  model,
  part,
  request,
  stream,
  ...given
}: BodyInput<InteractionsPart>): InteractionsBody {
  const params: InteractionsParams = given.params ?? {}
  const hostedTools = (given.hostedTools ?? []) as readonly Interactions.Tool[]
  const tools = [...functionsOf(request, hostedTools), ...hostedTools]
  const system = [request.instructions, part.system_instruction].filter(Boolean).join('\n\n')
  const choice = tools.length > 0 ? choiceOf(request.toolChoice) : undefined
  const { output } = request
  return {
    model,
    input: part.input,
    // The conversation is kept here, so nothing needs to be stored there.
    store: false,
    ...(system !== '' && { system_instruction: system }),
    ...(tools.length > 0 && { tools }),
    ...(output !== undefined && {
      response_format: { type: 'text', mime_type: 'application/json', schema: output.schema },
    }),
    ...params,
    ...(choice !== undefined && {
      generation_config: { tool_choice: choice, ...params.generation_config },
    }),
    stream,
  }
}

/** The same request, with the token under which a response that was too long for one is continued. */
export function continuedBody(body: InteractionsBody, token: string): InteractionsBody {
  return { ...body, continuation_token: token }
}

function functionsOf(
  { tools = [] }: ModelRequest,
  hosted: readonly Interactions.Tool[],
): Interactions.Tool[] {
  // A tool of ours that the user declares in the provider's words is not declared again.
  const declared = new Set(hosted.map((tool) => asObject(tool)?.['name']))
  return tools
    .filter(({ name }) => !declared.has(name))
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
    }))
}

type Choice = NonNullable<Interactions.GenerationConfig['tool_choice']>

/** `auto` is what the wire does unasked. */
function choiceOf(choice: ToolChoice | undefined): Choice | undefined {
  if (choice === undefined || choice === 'auto') return undefined
  if (choice === 'none') return 'none'
  return choice === 'required' ? 'any' : { allowed_tools: { mode: 'any', tools: [choice.tool] } }
}
