import type {
  ContentUnion,
  FunctionCallingConfig,
  FunctionCallingConfigMode,
  GenerateContentConfig,
  GenerateContentParameters,
  Part,
  Tool,
} from '@google/genai'
import type { ModelRequest } from '../../model/model.ts'
import type { BodyInput } from '../../model/provider-definition.ts'
import type { ToolChoice } from '../../model/tool-definition.ts'
import type { GeminiPart } from './wire/wire.ts'

/** Anything else that a request takes, in the client's own words. */
export type GeminiParams = Omit<
  GenerateContentConfig,
  'abortSignal' | 'automaticFunctionCalling' | 'tools'
>

/** What each request to the provider is made with. */
export interface RequestSettings {
  readonly model: string
  /** Tools that the provider runs or defines, e.g. `{ googleSearch: {} }`. */
  readonly hostedTools?: readonly Tool[]
  /** Other members of the request. They win over ours. */
  readonly params?: GeminiParams
}

/** The whole request: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody({
  model,
  part,
  request,
  ...given
}: BodyInput<GeminiPart>): GenerateContentParameters {
  const params: GeminiParams = given.params ?? {}
  const hostedTools = (given.hostedTools ?? []) as readonly Tool[]
  // How it is sent is not part of what is asked.
  const { httpOptions: _, ...asked } = params
  const tools = [...functionsOf(request, hostedTools), ...hostedTools]
  const systemInstruction = systemOf(request.instructions, part)
  const choice = choiceOf(request.toolChoice)
  const { output } = request
  const config: GenerateContentConfig = {
    ...(systemInstruction !== undefined && { systemInstruction }),
    ...(tools.length > 0 && { tools }),
    ...(output !== undefined && {
      responseMimeType: 'application/json',
      responseJsonSchema: output.schema,
    }),
    ...asked,
    ...(choice !== undefined &&
      tools.length > 0 && {
        toolConfig: { functionCallingConfig: choice, ...params.toolConfig },
      }),
    // The client must never run a tool by itself: that is the runner's work.
    automaticFunctionCalling: { disable: true },
  }
  return { model, contents: part.contents, config }
}

/** The same request, with the token under which a response that was too long for one is continued. */
export function continuedBody(
  body: GenerateContentParameters,
  continuationToken: string,
): GenerateContentParameters {
  return { ...body, config: { ...body.config, continuationToken } }
}

function functionsOf({ tools = [] }: ModelRequest, hosted: readonly Tool[]): Tool[] {
  // A tool of ours that the user declares in the provider's words is not declared again.
  const declared = new Set(
    hosted.flatMap((tool) => tool.functionDeclarations?.map(({ name }) => name) ?? []),
  )
  const functionDeclarations = tools
    .filter(({ name }) => !declared.has(name))
    .map(({ name, description, inputSchema }) => ({
      name,
      description,
      parametersJsonSchema: inputSchema,
    }))
  return functionDeclarations.length > 0 ? [{ functionDeclarations }] : []
}

/** `auto` is what the wire does unasked, and saying so is refused beside server-side tool calls. */
function choiceOf(choice: ToolChoice | undefined): FunctionCallingConfig | undefined {
  if (choice === undefined || choice === 'auto') return undefined
  // The client's enum exists at run time only in the client, which is not imported here.
  const mode: `${FunctionCallingConfigMode}` = choice === 'none' ? 'NONE' : 'ANY'
  const named = typeof choice === 'string' ? {} : { allowedFunctionNames: [choice.tool] }
  const config: object = { mode, ...named }
  return config
}

function systemOf(
  instructions: string | undefined,
  { systemInstruction }: GeminiPart,
): ContentUnion | undefined {
  const told = systemInstruction?.parts ?? []
  if (told.length === 0) return instructions === '' ? undefined : instructions
  const own: Part[] = instructions ? [{ text: instructions }] : []
  return { parts: [...own, ...told] }
}
