import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { asList, asObject, asText, without } from '../../model/wire/wire-value.ts'
import {
  type ItemReader,
  isFailure,
  jsonPart,
  serverCall,
  serverOutput,
} from '../openai/responses/decode/item-reader.ts'
import type { ResponsesItem } from '../openai/responses/wire/wire.ts'

/** Tools that the service runs, as pairs of `<type>` and `<type>_output`, named for the tool. */
const PAIRS: Readonly<Record<string, string>> = {
  a2a_preview_call: 'a2a',
  azure_ai_search_call: 'azure_ai_search',
  azure_function_call: 'azure_function',
  bing_custom_search_preview_call: 'bing_custom_search',
  bing_grounding_call: 'bing_grounding',
  browser_automation_preview_call: 'browser_automation',
  fabric_dataagent_preview_call: 'fabric_dataagent',
  memory_command_preview_call: 'memory_command',
  openapi_call: 'openapi',
  sharepoint_grounding_preview_call: 'sharepoint_grounding',
}

// The service runs these itself, whatever `status` says.
const memorySearch: ItemReader = (item, builder) =>
  builder.call({
    type: 'memory_search_call',
    tool: 'memory_search',
    args: {},
    executedBy: 'provider',
    itemId: asText(item.id),
    raw: item,
    // Live responses say `in_progress` and yet are finished, so the status opens nothing.
    result: { isError: isFailure(item), parts: jsonPart(item['memories'] ?? item['results']) },
  })

// A progress record: the same action comes again, under a new item id, for each of its states.
const workflowAction: ItemReader = (item, builder) => {
  const { kind, action_id, previous_action_id } = item
  const key = `action:${asText(action_id) ?? ''}`
  const isRunning = item.status === 'in_progress'
  const facts = {
    type: 'workflow_action',
    tool: asText(kind) ?? 'workflow_action',
    itemId: asText(item.id),
  }
  const raw = item
  const parts = jsonPart(asText(item.status))
  const args = Object.fromEntries(
    Object.entries({ action_id, previous_action_id }).filter(([, value]) => value !== undefined),
  )
  if (isRunning || !builder.isWaiting('provider', key)) {
    const result = isRunning ? {} : { result: { isError: isFailure(item), parts } }
    builder.call({ ...facts, args, executedBy: 'provider', pairKeys: [key], raw, ...result })
  } else {
    const isError = isFailure(item)
    builder.result({ ...facts, executedBy: 'provider', pairKeys: [key], isError, parts, raw })
  }
}

const consentRequest: ItemReader = (item, builder) => {
  const server = asText(item['server_label'])
  const url = asText(item['consent_link'])
  builder.call({
    type: 'oauth_consent_request',
    tool: 'oauth_consent',
    args: {},
    executedBy: 'provider',
    itemId: asText(item.id),
    raw: item,
    gate: {
      kind: 'consent',
      ...(server !== undefined && { server }),
      ...(url !== undefined && { url }),
    },
  })
}

const pairReaders = Object.entries(PAIRS).flatMap(([type, tool]): [string, ItemReader][] => [
  [type, serverCall(tool, (item) => item.arguments)],
  [`${type}_output`, serverOutput(type, tool, (item) => item.output)],
])

/** What this service adds to the types of the Responses protocol. */
export const FOUNDRY_READERS: Readonly<Record<string, ItemReader>> = {
  ...Object.fromEntries(pairReaders),
  memory_search_call: memorySearch,
  workflow_action: workflowAction,
  oauth_consent_request: consentRequest,
  structured_outputs: (item, builder) => builder.raw(item, 'assistant'),
}

/** Types that the service only sends and never accepts. */
export const OUTPUT_ONLY: ReadonlySet<string> = new Set([
  ...pairReaders.map(([type]) => type),
  'workflow_action',
  'oauth_consent_request',
  'structured_outputs',
])

/** An item as the service takes it back: its own additions come off. */
export function toFoundryInput(item: JsonObject): JsonObject | undefined {
  if (OUTPUT_ONLY.has(asText(item['type']) ?? '')) return undefined
  if (item['type'] === 'memory_search_call') return memoryInput(item)
  return without(item, 'agent_reference', 'response_id', 'created_by')
}

/** The request form has results and nothing else; live responses call them `memories`. */
function memoryInput(item: ResponsesItem): JsonObject {
  const memories = asList(item['memories']).map(
    (memory): JsonValue => ({
      memory_item: asObject(memory) ?? null,
    }),
  )
  const results = item['results'] ?? (item['memories'] === undefined ? null : memories)
  return { type: 'memory_search_call', results }
}
