import { foreignCallText } from '../../model/foreign-text.ts'
import { callsLast } from './block-order.ts'
import type { ServerCalls } from './encode-call.ts'
import { codeCaller, danglingUses, isServerUse } from './server-tools.ts'
import type { BlockParam, MessageParam } from './wire.ts'

/** Tells those of the provider's calls as text that no result will ever come for. */
export function closeDangling(
  messages: MessageParam[],
  container: string | undefined,
  calls: ServerCalls,
): MessageParam[] {
  const dangling = danglingUses(messages, container)
  if (dangling.size === 0 || calls.options.continues === true) return messages
  return messages.map((message) => {
    const { role, content } = message
    if (role !== 'assistant' || typeof content === 'string') return message
    const mended = content.map((block) => mend(block, dangling, calls))
    if (mended.every((block, index) => block === content[index])) return message
    return { role, content: [...callsLast(mended)] }
  })
}

function mend(block: BlockParam, dangling: ReadonlySet<string>, calls: ServerCalls): BlockParam {
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
