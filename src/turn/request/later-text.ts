import type { CallItem, CallResult, MessageItem } from '../../records/history-item.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { escapeTagName } from '../../text/tag-name.ts'
import { shownId } from '../log/call-state.ts'
import { editNote } from './presentation.ts'

/** Ids come from models and providers. They stand outside of envelopes here, so they must not spell one. */
const quoted = (id: string) => escapeTagName(JSON.stringify(id))

/** What stands where the result of a call would, while it runs in the background. */
export function receipt(
  id: string,
  note: string | undefined,
): Pick<CallItem, 'result' | 'background'> {
  const text = `The call was started in the background, under the id ${quoted(id)}. Its result will follow in a later message. Do not repeat the call meanwhile.`
  const texts = note === undefined ? [text] : [text, note]
  return { result: { isError: false, parts: texts.map(textPart) }, background: true }
}

/** The result of a background call or of an undo, as a message of its own. */
export const laterMessage = (record: ToolCall, parts: CallResult['parts']): MessageItem =>
  record.undoes === undefined ? backgroundMessage(record, parts) : undoMessage(record, parts)

/** The result of a background call as the model gets it later, in its envelopes. */
function backgroundMessage(record: ToolCall, parts: CallResult['parts']): MessageItem {
  const { id, tool } = record
  const intro = `The call ${quoted(id)} of \`${tool}\`, which was started in the background, has ended. This is not a message of the user, but its result:`
  const edited = editNote(record)
  const texts = [textPart(intro), ...parts, ...(edited === undefined ? [] : [textPart(edited)])]
  return { type: 'message', role: 'user', parts: texts, resultOf: shownId(record) }
}

/** What the model reads of an undo, in its envelopes. It did not ask for it. */
function undoMessage(
  { undoes = '', settlement, tool }: ToolCall,
  parts: CallResult['parts'],
): MessageItem {
  const ended =
    settlement === 'ok'
      ? 'was undone'
      : settlement === 'in-doubt'
        ? 'may have been undone'
        : 'could not be undone'
  const intro = `The call ${quoted(undoes)} of \`${tool.replace(/^undo:/, '')}\` ${ended}, at the request of a person or of the application. This is not a message of the user, but what \`undo\` gave:`
  return { type: 'message', role: 'user', parts: [textPart(intro), ...parts], resultOf: undoes }
}

const textPart = (text: string) => ({ type: 'text', text }) as const
