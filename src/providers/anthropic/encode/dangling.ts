import { foreignCallText } from '../../../model/wire/foreign-text.ts'
import { codeCaller, isServerUse, mayStayOpen } from '../wire/server-tools.ts'
import type { BlockParam, MessageParam } from '../wire/wire.ts'
import { callsLast } from './block-order.ts'
import type { ServerCalls } from './encode-call.ts'

/** Tells the provider's calls for which no result can come any more as text. */
export function mendDangling(
  messages: MessageParam[],
  calls: ServerCalls,
  container: string | undefined,
): MessageParam[] {
  if (calls.open.size === 0 || calls.options.continues === true) return messages
  const waiting = new Set(mayStayOpen(messages, container))
  const dangling = new Set([...calls.open.keys()].filter((id) => !waiting.has(id)))
  return dangling.size === 0
    ? messages
    : messages.map((message) => mendMessage(message, calls, dangling))
}

function mendMessage(
  message: MessageParam,
  calls: ServerCalls,
  dangling: ReadonlySet<string>,
): MessageParam {
  const { role, content } = message
  if (role !== 'assistant' || typeof content === 'string') return message
  const mended = content.map((block) => mendBlock(block, calls, dangling))
  if (mended.every((block, index) => block === content[index])) return message
  return { role, content: [...callsLast(mended)] }
}

function mendBlock(
  block: BlockParam,
  calls: ServerCalls,
  dangling: ReadonlySet<string>,
): BlockParam {
  const id = isServerUse(block.type) ? (block as { id: string }).id : undefined
  const call = id !== undefined && dangling.has(id) ? calls.open.get(id) : undefined
  if (call !== undefined) {
    calls.reportUnanswered(call)
    return { type: 'text', text: foreignCallText(call) }
  }
  const maker = codeCaller(block)
  if (maker === undefined || !dangling.has(maker)) return block
  // Without the code that made it, it is a call like any other.
  const { caller: _, ...rest } = block as BlockParam & { caller?: unknown }
  return rest
}
