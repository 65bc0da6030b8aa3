import type { JsonValue } from '../../../../core/json/json.ts'
import type { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import { asList, asObject, asText, without } from '../../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../../records/history-item.ts'
import { mediaAt } from '../../media-url.ts'
import { decodeContent, generatedImage, reasoningText } from '../wire/content.ts'
import type { ResponsesItem } from '../wire/wire.ts'
import {
  callId,
  clientCall,
  clientOutput,
  hybrid,
  type ItemReader,
  id,
  isFailure,
  jsonPart,
  serverCall,
  serverOutput,
} from './item-reader.ts'

// What a function call has beyond these is kept: namespace, caller, the exact text of its arguments.
const FUNCTION_MEMBERS = ['type', 'id', 'call_id', 'name', 'status']

const functionCall: ItemReader = (item, builder) => {
  const odd = asText(item.arguments) === undefined ? ['arguments'] : []
  const extras = without(item, ...FUNCTION_MEMBERS, ...odd)
  builder.call({
    type: 'function_call',
    tool: asText(item.name) ?? '',
    args: item.arguments,
    executedBy: 'runner',
    callId: callId(item),
    itemId: id(item),
    pairKeys: [`name:${asText(item.name) ?? ''}`, 'type:function_call'],
    data: extras,
    mayWait: item['async'] === true,
  })
}

const functionOutput: ItemReader = (item, builder, api) => {
  const name = asText(item.name)
  builder.result({
    type: 'function_call_output',
    tool: name ?? 'unknown_tool',
    executedBy: 'runner',
    callId: callId(item),
    itemId: id(item),
    pairKeys: [...(name === undefined ? [] : [`name:${name}`]), 'type:function_call'],
    isError: isFailure(item),
    parts: decodeContent(item.output, api),
    data: { item },
  })
}

const customCall: ItemReader = (item, builder) =>
  builder.call({
    type: 'custom_tool_call',
    tool: asText(item.name) ?? '',
    args: { input: asText(item.input) ?? '' },
    executedBy: 'runner',
    callId: callId(item),
    itemId: id(item),
    pairKeys: [`type:custom_tool_call`],
    data: { item },
    mayWait: item['async'] === true,
  })

const shellCall: ItemReader = (item, builder, api) => {
  const runsThere = asText(asObject(item['environment'])?.['type'])?.startsWith('container')
  const read = runsThere ? serverCall : clientCall
  read('shell', (call) => call['action'])(item, builder, api)
}

const shellOutput: ItemReader = (item, builder, api) => {
  const outcomes = asList(item.output).map((entry) => asObject(asObject(entry)?.['outcome']))
  const failed = outcomes.some(
    (outcome) => outcome?.['type'] === 'timeout' || outcome?.['exit_code'],
  )
  if (isServersShell(item, builder))
    serverOutput('shell_call', 'shell', (out) => out.output)(item, builder, api)
  else clientOutput('shell_call', 'shell', () => failed)(item, builder, api)
}

/** The server's form of an output has an item id. */
export const isServersShell = (output: ResponsesItem, builder: HistoryBuilder): boolean =>
  isServers(output, builder, id(output) !== undefined)

export const isServersSearch = (output: ResponsesItem, builder: HistoryBuilder): boolean =>
  isServers(output, builder, output['execution'] !== 'client')

/** Whether the provider gave this output: its call decides, and failing that what the output says of itself. */
function isServers(output: ResponsesItem, builder: HistoryBuilder, saysSo: boolean): boolean {
  const asked = callId(output)
  if (builder.isOpen(asked)) return true
  const isOurs = asked !== undefined && builder.isWaiting('runner', `id:${asked}`)
  return !isOurs && saysSo
}

const toolSearchCall: ItemReader = (item, builder, api) => {
  const read = item['execution'] === 'client' ? clientCall : serverCall
  read('tool_search', (call) => call.arguments)(item, builder, api)
}

const toolSearchOutput: ItemReader = (item, builder, api) => {
  if (isServersSearch(item, builder)) {
    return serverOutput('tool_search_call', 'tool_search', (out) => out['tools'])(
      item,
      builder,
      api,
    )
  }
  builder.result({
    type: 'tool_search_output',
    tool: 'tool_search',
    executedBy: 'runner',
    callId: callId(item),
    itemId: id(item),
    pairKeys: ['type:tool_search_call'],
    isError: isFailure(item),
    parts: jsonPart(item['tools']),
    data: { item },
  })
}

const approvalRequest: ItemReader = (item, builder) => {
  const server = asText(item['server_label'])
  builder.call({
    type: 'mcp_approval_request',
    tool: asText(item.name) ?? '',
    args: item.arguments,
    executedBy: 'provider',
    itemId: id(item),
    pairKeys: [`id:${id(item) ?? ''}`],
    raw: item,
    gate: { kind: 'approval', ...(server !== undefined && { server }) },
  })
}

const approvalResponse: ItemReader = (item, builder) => {
  const request = asText(item['approval_request_id']) ?? ''
  const approved = item['approve'] === true
  const reason = asText(item['reason'])
  if (builder.decide(request, { approved, ...(reason !== undefined && { reason }) })) return
  builder.result({
    type: 'mcp_approval_response',
    tool: 'mcp_approval',
    executedBy: 'provider',
    callId: request,
    itemId: id(item),
    isError: false,
    parts: jsonPart(approved ? 'approved' : 'denied'),
    raw: item,
  })
}

const reasoning: ItemReader = (item, builder) =>
  builder.thought(reasoningText(item), { item: item })

const message: ItemReader = (item, builder, api) => {
  const role = item.role === 'user' || item.role === 'assistant' ? item.role : 'system'
  builder.message(role, decodeContent(item.content, api), { item: item })
}

/** The types that this protocol has, and how each is read. Others survive as raw data. */
export const ITEM_READERS: Readonly<Record<string, ItemReader>> = {
  message,
  reasoning,
  function_call: functionCall,
  function_call_output: functionOutput,
  custom_tool_call: customCall,
  custom_tool_call_output: clientOutput('custom_tool_call', 'custom'),
  computer_call: clientCall('computer', (item) =>
    item['actions'] === undefined ? { action: item['action'] } : { actions: item['actions'] },
  ),
  computer_call_output: clientOutput('computer_call', 'computer'),
  apply_patch_call: clientCall('apply_patch', (item) => item['operation']),
  apply_patch_call_output: clientOutput('apply_patch_call', 'apply_patch'),
  local_shell_call: clientCall('local_shell', (item) => item['action']),
  local_shell_call_output: clientOutput('local_shell_call', 'local_shell'),
  shell_call: shellCall,
  shell_call_output: shellOutput,
  tool_search_call: toolSearchCall,
  tool_search_output: toolSearchOutput,
  program: serverCall('program', (item) => ({ code: item['code'] })),
  program_output: serverOutput('program', 'program', (item) => item['result']),
  mcp_approval_request: approvalRequest,
  mcp_approval_response: approvalResponse,
  code_interpreter_call: hybrid(
    () => 'code_interpreter',
    (item) => ({ code: item['code'] ?? null }),
    (item) => asList(item['outputs']).flatMap(codeOutput),
  ),
  file_search_call: hybrid(
    () => 'file_search',
    (item) => ({ queries: item['queries'] ?? [] }),
    (item) => jsonPart(item['results']),
  ),
  image_generation_call: hybrid(
    () => 'image_generation',
    (item) => ({ prompt: item['revised_prompt'] ?? null }),
    (item) => {
      const data = asText(item['result'])
      return data === undefined ? [] : [generatedImage(data, asText(item['output_format']))]
    },
  ),
  mcp_call: hybrid(
    (item) => asText(item.name) ?? '',
    (item) => item.arguments,
    (item) => jsonPart(item.output ?? item['error']),
  ),
  web_search_call: hybrid(
    () => 'web_search',
    (item) => without(asObject(item['action']) ?? {}, 'sources'),
    (item) => jsonPart(item['results'] ?? asObject(item['action'])?.['sources']),
  ),
}

function codeOutput(value: JsonValue): ContentPart[] {
  const output = asObject(value)
  const url = asText(output?.['url'])
  if (url !== undefined) return [mediaAt('image', url)]
  return jsonPart(output?.['logs'])
}
