import { handleText } from '../../artifacts/handle-text.ts'
import { cutBytes } from '../../core/error/cut-text.ts'
import type { ReadHead } from '../../prompt/call-rendering.ts'
import { callRenderer } from '../../prompt/render-call.ts'
import { summaryText } from '../../prompt/render-context.ts'
import { renderMessage } from '../../prompt/render-message.ts'
import {
  loadParts,
  MEDIA_LIMIT,
  type Reading,
  type RenderedPart,
} from '../../prompt/rendered-part.ts'
import type { CallResult, MessageItem } from '../../records/history-item.ts'
import type { Message } from '../../records/message.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { Summary } from '../../store/entry.ts'
import { escapeTagName } from '../../text/tag-name.ts'

/** How records look to a model. The same record always looks the same, so that prompt caches hold. */
export interface Presentation {
  /** The key of the conversation's envelopes. */
  readonly key: Uint8Array
  call(call: ToolCall): Promise<ShownCall>
  /** The smallest form of a call's result. */
  handle(call: ToolCall): Promise<CallResult>
  message(message: Message): Promise<MessageItem>
  summary(summary: Pick<Summary, 'id' | 'text' | 'trust'>): MessageItem
}

export interface ShownCall {
  readonly result: CallResult
  readonly hasHandle: boolean
}

/** Lines enough for any head that fits the limit; the artifact bounds each of them. */
const HEAD_LINES = 200

const readHead: ReadHead = async (artifact, maxBytes) =>
  cutBytes((await artifact.head(HEAD_LINES)).join('\n'), maxBytes)

/** Shows the records of one conversation in envelopes under its own key. */
export function presentationOf(key: Uint8Array, reading: Reading = {}): Presentation {
  const render = callRenderer({ key, handleText, readHead, reading })
  const load = (parts: readonly RenderedPart[]) => loadParts(parts, MEDIA_LIMIT, reading)
  return {
    key,
    async handle(call) {
      const { parts } = await render(call, 'handle')
      const loaded = await load(parts)
      // The note about edited arguments stays with the handle; other notes are dropped.
      const edited = editNote(call)
      const told = edited === undefined ? [] : [{ type: 'text', text: edited } as const]
      return { isError: call.isError, parts: [...loaded, ...told] }
    },
    async call(call) {
      const { parts, hasHandle } = await render(call)
      return { result: { isError: call.isError, parts: await load(parts) }, hasHandle }
    },
    async message(message) {
      const { parts } = renderMessage(message, { key })
      const { role, providerData, response } = message
      return {
        type: 'message',
        role,
        parts: await load(parts),
        ...(providerData && { providerData }),
        ...(response !== undefined && { response }),
      }
    },
    summary: ({ id, text, trust }) => {
      const parts = [{ type: 'text', text: summaryText(key, { id, text, trust }) }] as const
      return { type: 'message', role: 'user', parts }
    },
  }
}

const MAX_SHOWN = 2_000

/**
 * The note on the result of a call whose arguments a person edited. Without it, the model treats the result as an
 * answer to its own arguments.
 */
export function editNote({ editOf, args }: ToolCall): string | undefined {
  if (editOf === undefined) return undefined
  // It stands outside of the envelope, so it must not spell one.
  const json = escapeTagName(JSON.stringify(args))
  const shown = json.length > MAX_SHOWN ? '' : ` It ran with ${json}.`
  return `A person changed the arguments before this call ran.${shown} Do not repeat it with the old ones.`
}
