import { foreignCallText } from '../../model/foreign-text.ts'
import { copyChanged } from '../../model/joined-entries.ts'
import { callsLast } from './block-order.ts'
import type { ServerCalls } from './encode-call.ts'
import { codeCaller, isServerUse, mayStayOpen } from './server-tools.ts'
import type { BlockParam, MessageParam } from './wire.ts'

/**
 * Tells those of the provider's calls as text that no result will ever come for. Messages are looked
 * at once, and again only when another call turns out to be one of those.
 */
export class DanglingCalls {
  readonly #calls: ServerCalls
  readonly #mended: MessageParam[] = []
  #dangling: ReadonlySet<string> = new Set()

  constructor(calls: ServerCalls) {
    this.#calls = calls
  }

  /** The messages with such calls mended; those before `changed` are what they were the last time. */
  close(messages: MessageParam[], changed: number, container: string | undefined): MessageParam[] {
    const dangling = this.#find(messages, container)
    const isSame = sameMembers(dangling, this.#dangling)
    this.#dangling = dangling
    if (dangling.size === 0) return messages
    const from = isSame ? changed : 0
    copyChanged(this.#mended, messages, from)
    for (let index = from; index < messages.length; index++) {
      this.#mended[index] = this.#mend(messages[index] as MessageParam)
    }
    return this.#mended
  }

  #find(messages: readonly MessageParam[], container: string | undefined): ReadonlySet<string> {
    const { open, options } = this.#calls
    if (open.size === 0 || options.continues === true) return new Set()
    const waiting = new Set(mayStayOpen(messages, container))
    return new Set([...open.keys()].filter((id) => !waiting.has(id)))
  }

  #mend(message: MessageParam): MessageParam {
    const { role, content } = message
    if (role !== 'assistant' || typeof content === 'string') return message
    const mended = content.map((block) => this.#mendBlock(block))
    if (mended.every((block, index) => block === content[index])) return message
    return { role, content: [...callsLast(mended)] }
  }

  #mendBlock(block: BlockParam): BlockParam {
    const id = isServerUse(block.type) ? (block as { id: string }).id : undefined
    const call = id !== undefined && this.#dangling.has(id) ? this.#calls.open.get(id) : undefined
    if (call !== undefined) {
      this.#calls.reportUnanswered(call)
      return { type: 'text', text: foreignCallText(call) }
    }
    const maker = codeCaller(block)
    if (maker === undefined || !this.#dangling.has(maker)) return block
    // Without the code that made it, it is a call like any other.
    const { caller: _, ...rest } = block as BlockParam & { caller?: unknown }
    return rest
  }
}

function sameMembers(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return some.size === others.size && [...some].every((id) => others.has(id))
}
