import { handleText } from '../artifacts/handle-text.ts'
import { cutBytes } from '../core/cut-text.ts'
import type { ReadHead } from '../prompt/call-rendering.ts'
import { envelopeKey } from '../prompt/envelope-key.ts'
import { callRenderer, renderAtOnce } from '../prompt/render-call.ts'
import { renderMessage } from '../prompt/render-message.ts'
import { loadParts, MEDIA_LIMIT, type Reading, type RenderedPart } from '../prompt/rendered-part.ts'
import type { CallResult, MessageItem, TextPart } from '../records/history-item.ts'
import type { Message } from '../records/message.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { editNote } from './edit-note.ts'

/** How records look to a model. The same record always looks the same, so that prompt caches hold. */
export interface Presentation {
  /** Under which the conversation's envelopes are sealed. */
  readonly key: Uint8Array
  /** At once where nothing has to be read. */
  call(call: ToolCall): ShownCall | Promise<ShownCall>
  /** The smallest form of a call's result. */
  handle(call: ToolCall): Promise<CallResult>
  message(message: Message): Promise<MessageItem>
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
export function presentationOf(
  secret: Uint8Array,
  conversation: string,
  reading: Reading = {},
): Presentation {
  const key = envelopeKey(secret, conversation)
  const render = callRenderer({ key, handleText, readHead, reading })
  const load = (parts: readonly RenderedPart[]) => loadParts(parts, MEDIA_LIMIT, reading)
  const shown = async (call: ToolCall): Promise<ShownCall> => {
    const { parts, hasHandle } = await render(call)
    return { result: { isError: call.isError, parts: await load(parts) }, hasHandle }
  }
  return {
    key,
    async handle(call) {
      const { parts } = await render(call, 'handle')
      const loaded = await load(parts)
      // What a person changed is true of the handle too; other notes have served their time.
      const edited = editNote(call)
      const told = edited === undefined ? [] : [{ type: 'text', text: edited } as const]
      return { isError: call.isError, parts: [...loaded, ...told] }
    },
    call(call) {
      const rendered = renderAtOnce(call, { key })
      if (rendered === undefined) return shown(call)
      const parts = rendered.parts as readonly TextPart[]
      return { result: { isError: call.isError, parts }, hasHandle: false }
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
  }
}
