import type { JsonValue } from '../../../../core/json/json.ts'
import type { HistoryBuilder, ResultParts } from '../../../../model/wire/history-builder.ts'
import { asText, jsonText } from '../../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../../records/history-item.ts'
import { decodeContent } from '../wire/content.ts'
import type { ResponsesItem, TypedItem } from '../wire/wire.ts'

/** Adds one wire item to the history. */
export type ItemReader = (item: TypedItem, builder: HistoryBuilder, api: string) => void

/** The id under which the provider stores an item. */
export const id = (item: ResponsesItem) => asText(item.id)
/** The id that pairs call and output. */
export const callId = (item: ResponsesItem) => asText(item.call_id)

const RUNNING = new Set<unknown>([
  'in_progress',
  'searching',
  'interpreting',
  'generating',
  'calling',
])

/** A status that says so, or an error member that is not null. */
export function isFailure(item: ResponsesItem): boolean {
  const error = item['error']
  const failed = item.status === 'failed' || item.status === 'incomplete'
  return failed || item.status === 'cancelled' || (error !== undefined && error !== null)
}

/** JSON as text, for results that are structures. */
export function jsonPart(value: JsonValue | undefined): ContentPart[] {
  if (value === undefined || value === null) return []
  return [{ type: 'text', text: typeof value === 'string' ? value : jsonText(value) }]
}

/** A call that the client runs, kept whole: each type has members of its own that must come back. */
export function clientCall(tool: string, args: (item: ResponsesItem) => unknown): ItemReader {
  return (item, builder) =>
    builder.call({
      type: item.type,
      tool,
      args: args(item),
      executedBy: 'runner',
      callId: callId(item),
      itemId: id(item),
      pairKeys: [`type:${item.type}`],
      data: { item },
    })
}

/** The client's answer to such a call. */
export function clientOutput(callType: string, tool: string, isError = isFailure): ItemReader {
  return (item, builder, api) =>
    builder.result({
      type: item.type,
      tool: asText(item.name) ?? tool,
      executedBy: 'runner',
      // The typed form of local shell outputs puts the call's id into `id`.
      callId: callId(item) ?? (callType === 'local_shell_call' ? id(item) : undefined),
      itemId: id(item),
      pairKeys: [`type:${callType}`],
      isError: isError(item),
      parts: outputParts(item.output, api),
      data: { item },
    })
}

function outputParts(output: JsonValue | undefined, api: string): ContentPart[] {
  const parts = decodeContent(Array.isArray(output) ? output : output ? [output] : [], api)
  return parts.length > 0 ? parts : jsonPart(output)
}

/** A provider's call whose result is in the same item. */
export function hybrid(
  tool: (item: ResponsesItem) => string,
  args: (item: ResponsesItem) => unknown,
  parts: (item: ResponsesItem) => readonly ContentPart[],
): ItemReader {
  return (item, builder) => {
    const found = parts(item)
    const isOpen = found.length === 0 && RUNNING.has(item.status)
    const result: ResultParts = { isError: isFailure(item), parts: found }
    builder.call({
      type: item.type,
      tool: tool(item),
      args: args(item),
      executedBy: 'provider',
      itemId: id(item),
      raw: item,
      ...(!isOpen && { result }),
    })
  }
}

/** A provider's call whose result is an item of its own. */
export function serverCall(tool: string, args: (item: ResponsesItem) => unknown): ItemReader {
  return (item, builder) =>
    builder.call({
      type: item.type,
      tool: asText(item.name) ?? tool,
      args: args(item),
      executedBy: 'provider',
      callId: callId(item),
      itemId: id(item),
      pairKeys: [`type:${item.type}`],
      raw: item,
    })
}

/** The item that holds its result. */
export function serverOutput(
  callType: string,
  tool: string,
  output: (item: ResponsesItem) => JsonValue | undefined,
): ItemReader {
  return (item, builder) =>
    builder.result({
      type: item.type,
      tool: asText(item.name) ?? tool,
      executedBy: 'provider',
      callId: callId(item),
      itemId: id(item),
      pairKeys: [`type:${callType}`],
      isError: isFailure(item),
      parts: jsonPart(output(item)),
      raw: item,
    })
}
