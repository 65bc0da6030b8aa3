import type { JsonValue } from '../../../core/json/json.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { MessageParam } from './wire.ts'

/** The names that a `server_tool_use` may have in a request; any other is refused. */
export const SERVER_TOOLS: ReadonlySet<string> = new Set([
  'advisor',
  'bash_code_execution',
  'code_execution',
  'text_editor_code_execution',
  'tool_search_tool_bm25',
  'tool_search_tool_regex',
  'web_fetch',
  'web_search',
])

export const SERVER_ID = /^srvtoolu_[a-zA-Z0-9_]+$/
export const CLIENT_ID = /^[a-zA-Z0-9_-]+$/

/** A call that the provider runs itself. Names end alike, so that new kinds are known too. */
export function isServerUse(type: unknown): boolean {
  return typeof type === 'string' && type.endsWith('_tool_use')
}

/** A call of either side. */
export function isCall(type: unknown): boolean {
  return type === 'tool_use' || isServerUse(type)
}

/** The result of a provider's call, which stands in the assistant's content. */
export function isServerResult(type: unknown): boolean {
  return typeof type === 'string' && type.endsWith('_tool_result')
}

const ONLY_IN_MESSAGES: ReadonlySet<string> = new Set([
  'compaction',
  'container_upload',
  'fallback',
  'mcp_tool_listing',
  'redacted_thinking',
  'thinking',
  'tool_addition',
  'tool_removal',
])

/** True for blocks that a result cannot hold. What we do not know may be new. */
export function isOnlyInMessages(type: string): boolean {
  return (
    isCall(type) || isServerResult(type) || type === 'tool_result' || ONLY_IN_MESSAGES.has(type)
  )
}

/** The `server_tool_use` whose code made this call; undefined for a call that the model made itself. */
export function codeCaller(block: object): string | undefined {
  const caller = asObject((block as { caller?: unknown }).caller)
  return asText(caller?.['type'])?.startsWith('code_execution')
    ? asText(caller?.['tool_id'])
    : undefined
}

/** The blocks of a message; a text stands for one block. */
export function blocksOf(message: MessageParam): readonly (object & { readonly type: string })[] {
  const { content } = message
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text' }]
  return content ?? []
}

/**
 * Provider calls without a result that can no longer get one. One may stay
 * open in the last assistant message, when that is sent back to continue (a pause) or is followed by the
 * results of calls made beside or from it; code needs its container for that.
 */
export function danglingUses(messages: readonly MessageParam[], container: unknown): Set<string> {
  const open = new Set<string>()
  for (const message of messages) {
    for (const block of blocksOf(message)) {
      const { id, tool_use_id } = block as { id?: JsonValue; tool_use_id?: JsonValue }
      if (isServerUse(block.type) && typeof id === 'string') open.add(id)
      if (isServerResult(block.type) && typeof tool_use_id === 'string') open.delete(tool_use_id)
    }
  }
  if (open.size > 0) for (const id of mayStayOpen(messages, container)) open.delete(id)
  return open
}

/** Those that may: see `danglingUses`. Only the end of the request is looked at. */
export function mayStayOpen(
  messages: readonly MessageParam[],
  container: unknown,
): readonly string[] {
  const at = messages.findLastIndex((message) => message.role === 'assistant')
  const last = messages[at]
  const next = messages[at + 1]
  if (last === undefined) return []
  const isAnswered = next !== undefined && blocksOf(next)[0]?.type === 'tool_result'
  if (next !== undefined && !isAnswered) return []
  const blocks = blocksOf(last)
  const callers = blocks.flatMap((block) => codeCaller(block) ?? [])
  const beside = blocks.flatMap((block) =>
    isServerUse(block.type) ? ((block as { id?: string }).id ?? []) : [],
  )
  const hasContainer = container !== undefined && container !== null
  return [...callers, ...beside].filter((id) => hasContainer || !callers.includes(id))
}
