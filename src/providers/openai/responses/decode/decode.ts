import { BobbinError } from '../../../../core/error/error.ts'
import type { JsonValue } from '../../../../core/json/json.ts'
import { assemble, type Ending } from '../../../../model/events/assembler.ts'
import type { FinishReason } from '../../../../model/events/finish-reason.ts'
import type { Finish, UnfinishedCall, Usage } from '../../../../model/events/model-event.ts'
import { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import type { DecodeContext, Decoding } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import { failureOfBody } from '../../fail.ts'
import { asItem, type ResponsesResponse, typeOf } from '../wire/wire.ts'
import { isServersSearch, isServersShell } from './decode-item.ts'
import type { ResponsesDialect } from './dialect.ts'

/** Decodes a response, an item, a list of items, or a request. */
export function decodePayload(
  payload: unknown,
  dialect: ResponsesDialect,
  context: DecodeContext,
): Decoding {
  if (typeof payload === 'string') return decodeList([{ role: 'user', content: payload }])
  if (Array.isArray(payload)) return decodeList(payload)
  const object = asObject(payload)
  if (object === undefined) throw unknownPayload(dialect.api)
  if (Array.isArray(object['output']) && object['type'] === undefined) {
    return decodeResponse(object, dialect, context)
  }
  if (object['input'] !== undefined && object['type'] === undefined) {
    const instructions = asText(object['instructions'])
    const input = object['input']
    return decodeList(
      typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input),
      instructions,
    )
  }
  const event = asText(object['type'])
  if (event?.startsWith('response.')) {
    return decodePayload(object['item'] ?? object['response'] ?? null, dialect, context)
  }
  if (event === undefined && object['role'] === undefined) throw unknownPayload(dialect.api)
  return decodeList([object])

  function decodeList(items: readonly JsonValue[], instructions?: string): Decoding {
    const builder = new HistoryBuilder(dialect.api, dialect.provider, context)
    if (instructions !== undefined) {
      builder.message('system', [{ type: 'text', text: instructions }], { instructions: true })
    }
    for (const item of items) readItem(item, builder, dialect, 'history')
    return { items: builder.items }
  }
}

/** A finished response; a failed one throws. */
export function decodeResponse(
  response: ResponsesResponse,
  dialect: ResponsesDialect,
  context: DecodeContext,
): { readonly items: Finish['items']; readonly finish: Finish } {
  if (response.status === 'failed')
    throw failureOfBody(dialect.api, response.error, { holder: response })
  const builder = new HistoryBuilder(dialect.api, dialect.provider, context)
  builder.startResponse(asText(response.id))
  const unfinished: UnfinishedCall[] = []
  for (const item of asList(response.output)) {
    const cut = unfinishedCall(item)
    if (cut === undefined) readItem(item, builder, dialect, 'response')
    else unfinished.push(cut)
  }
  const finish = assemble(builder.items, endingOf(response, builder))
  const told = { ...finish, unfinished: [...finish.unfinished, ...unfinished] }
  return { items: finish.items, finish: told }
}

/**
 * A call that its own item calls incomplete, even though the response is not. `in_progress` says
 * nothing: calls that a program makes are sent so in finished responses.
 */
function unfinishedCall(value: JsonValue): UnfinishedCall | undefined {
  const item = asItem(value)
  if (item?.status !== 'incomplete') return undefined
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return undefined
  const callId = asText(item.call_id)
  return {
    tool: asText(item.name) ?? '',
    ...(callId !== undefined && { callId }),
    rawArgs: asText(item.arguments ?? item.input) ?? '',
  }
}

/** Reads one item. In a history it also finds where responses begin and end. */
export function readItem(
  value: JsonValue,
  builder: HistoryBuilder,
  dialect: ResponsesDialect,
  where: 'history' | 'response',
): void {
  const item = asItem(value)
  const type = item === undefined ? '' : typeOf(item)
  if (where === 'history') {
    const isInput =
      (type === 'message' && item?.role !== 'assistant') || isRunnerOutput(type, item, builder)
    if (isInput) builder.endResponse()
    else if (!builder.inResponse) builder.startResponse()
  }
  const reader = Object.hasOwn(dialect.readers, type) ? dialect.readers[type] : undefined
  if (item === undefined || reader === undefined) builder.raw(value)
  else reader({ ...item, type }, builder, dialect.api)
}

const RUNNER_OUTPUTS = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'computer_call_output',
  'apply_patch_call_output',
  'local_shell_call_output',
  'mcp_approval_response',
])

function isRunnerOutput(
  type: string,
  item: ReturnType<typeof asItem>,
  builder: HistoryBuilder,
): boolean {
  if (type === 'shell_call_output') return !isServersShell(item ?? {}, builder)
  if (type === 'tool_search_output') return !isServersSearch(item ?? {}, builder)
  return RUNNER_OUTPUTS.has(type)
}

function endingOf(response: ResponsesResponse, builder: HistoryBuilder): Ending {
  const status = asText(response.status)
  const detail = asText(asObject(response.incomplete_details)?.['reason'])
  const responseId = asText(response.id)
  const usage = usageOf(response.usage)
  const told = asObject(response.prompt_cache_diagnostics)
  const isMiss = told !== undefined && told['type'] !== 'cache_hit'
  return {
    reason: reasonOf(status, detail, builder),
    ...(status !== undefined && { rawReason: detail ?? status }),
    ...(responseId !== undefined && { responseId }),
    ...(usage !== undefined && { usage }),
    ...(isMiss && { cacheMiss: told }),
    ...(isGrounded(response, builder) && { grounded: true }),
  }
}

/** Some servers search without a word: only the sources in the text tell. */
function isGrounded({ output }: ResponsesResponse, { items }: HistoryBuilder): boolean {
  if (items.some((item) => item.type === 'call' && item.executedBy === 'provider')) return false
  const parts = asList(output).flatMap((item) => asList(asObject(item)?.['content']))
  return parts.some((part) => asList(asObject(part)?.['annotations']).length > 0)
}

function reasonOf(
  status: string | undefined,
  detail: string | undefined,
  { items }: HistoryBuilder,
): FinishReason {
  if (items.some((item) => item.type === 'openCall' && item.gate?.kind === 'consent')) {
    return 'waiting'
  }
  // A whole response that says nothing of its status was given back as finished.
  if (status === 'completed' || status === undefined) {
    return items.some((item) => item.type === 'call' && item.executedBy === 'runner')
      ? 'tools'
      : 'stop'
  }
  if (detail === 'max_output_tokens') return 'length'
  return detail === 'content_filter' ? 'filter' : 'other'
}

function usageOf(value: JsonValue | undefined): Usage | undefined {
  const usage = asObject(value)
  const count = (name: string, holder = usage) => {
    const number = holder?.[name]
    return typeof number === 'number' ? number : undefined
  }
  const inputTokens = count('input_tokens')
  const outputTokens = count('output_tokens')
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const details = asObject(usage?.['input_tokens_details'])
  const cached = count('cached_tokens', details)
  const written = count('cache_write_tokens', details)
  const reasoning = count('reasoning_tokens', asObject(usage?.['output_tokens_details']))
  return {
    inputTokens,
    outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}

function unknownPayload(api: string): BobbinError {
  const message = `The payload is nothing that \`${api}\` has: pass a response, an item, a list of items, or a request with \`input\`.`
  return new BobbinError('E_UNKNOWN_PAYLOAD', message, { api })
}
