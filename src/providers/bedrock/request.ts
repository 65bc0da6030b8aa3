import type { ConverseStreamRequest, Tool } from '@aws-sdk/client-bedrock-runtime'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { ModelRequest } from '../../model/model.ts'
import type { BodyInput } from '../../model/provider-definition.ts'
import type { ToolChoice, ToolDefinition } from '../../model/tool-definition.ts'
import { asObject, asText } from '../../model/wire/wire-value.ts'
import { asJson, type ConversePart, taggedOf } from './wire/wire.ts'

/** A tool that the provider runs, or a definition in its words, e.g. `{ systemTool: { name: 'nova_grounding' } }`. */
export type HostedTool = Tool

/** Anything else that a request takes, in the client's own words. */
export type ConverseParams = Partial<Omit<ConverseStreamRequest, 'messages' | 'modelId'>>

/** What each request to the provider is made with. */
export interface RequestSettings {
  readonly model: string
  /** Tools that the provider runs, e.g. `{ systemTool: { name: 'nova_grounding' } }`. */
  readonly hostedTools?: readonly HostedTool[]
  /** Other members of the request. They win over ours. */
  readonly params?: ConverseParams
  /**
   * Whether requests get cache points; the name of the model tells when absent. Points of your own, in `params`, also keep
   * ours out.
   */
  readonly cache?: boolean
  /** False asks for whole responses. */
  readonly streaming?: boolean
}

/** The whole request as JSON: bytes are base64. `clientInput` makes what the client is given of it. */
export interface ConverseBody extends ConversePart {
  readonly modelId: string
  readonly toolConfig?: JsonObject
  readonly [member: string]: unknown
}

/** The whole body: the conversation, what this round trip asks for, and the user's own settings. */
export function requestBody({
  model,
  part,
  request,
  ...given
}: BodyInput<ConversePart>): ConverseBody {
  const params: ConverseParams = given.params ?? {}
  const hostedTools = (given.hostedTools ?? []) as readonly HostedTool[]
  const { toolConfig, system: told = [], ...others } = params
  const system = [
    ...(request.instructions ? [{ text: request.instructions }] : []),
    ...(part.system ?? []),
    ...(asJson(told) as JsonObject[]),
  ]
  const tools = toolsOf(part, request, hostedTools, asJson(toolConfig ?? {}) as JsonObject)
  return {
    ...(asJson(others) as JsonObject),
    ...outputOf(request, params),
    ...(tools !== undefined && { toolConfig: tools }),
    ...(system.length > 0 && { system }),
    modelId: model,
    messages: part.messages,
  }
}

/** The wire takes the schema as a text. */
function outputOf({ output }: ModelRequest, params: ConverseParams): { outputConfig?: JsonObject } {
  if (output === undefined) return {}
  const jsonSchema = { name: output.name, schema: JSON.stringify(output.schema) }
  const textFormat = { type: 'json_schema', structure: { jsonSchema } }
  return { outputConfig: { textFormat, ...asObject(asJson(params.outputConfig)) } }
}

function toolsOf(
  part: ConversePart,
  { tools = [], toolChoice }: ModelRequest,
  hosted: readonly HostedTool[],
  given: JsonObject,
): JsonObject | undefined {
  const named = namesIn(part)
  // The wire has no word for it: without tools the model calls none. A history with calls needs them all the same.
  if (toolChoice === 'none' && named.length === 0 && Object.keys(given).length === 0) {
    return undefined
  }
  const theirs = asJson([...hosted]) as JsonObject[]
  const own = new Set(theirs.map((tool) => asText(asObject(tool['toolSpec'])?.['name'])))
  const declared = [...tools.filter(({ name }) => !own.has(name)).map(toolSpec), ...theirs]
  const all = declared.length > 0 ? declared : named.map(standIn)
  if (all.length === 0 && Object.keys(given).length === 0) return undefined
  const choice = declared.length > 0 ? choiceOf(toolChoice) : undefined
  return { tools: all, ...(choice !== undefined && { toolChoice: choice }), ...given }
}

function toolSpec({ name, description, inputSchema }: ToolDefinition): JsonObject {
  return {
    toolSpec: {
      name,
      // An empty one is refused.
      ...(description !== '' && { description }),
      inputSchema: { json: { ...inputSchema, type: 'object' } },
    },
  }
}

/** Calls in the history are refused unless some tool is declared. */
function standIn(name: string): JsonObject {
  const description = 'Not available any more. Do not call it.'
  return toolSpec({ name, description, inputSchema: { type: 'object' } })
}

function namesIn({ messages }: ConversePart): readonly string[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => {
      const { tag, body } = taggedOf(block) ?? {}
      return tag === 'toolUse' ? (asText(asObject(body)?.['name']) ?? []) : []
    }),
  )
  return [...new Set(names)]
}

/** `auto` is what the wire does unasked, and some models refuse the member. */
function choiceOf(choice: ToolChoice | undefined): JsonValue | undefined {
  if (choice === undefined || choice === 'auto' || choice === 'none') return undefined
  return typeof choice === 'string' ? { any: {} } : { tool: { name: choice.tool } }
}
