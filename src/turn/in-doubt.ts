import { EFFECT_UNKNOWN } from '../records/effect-unknown.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { NewEntry } from '../store/entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Conversation } from './conversation.ts'
import { shownId } from './conversation-log.ts'
import type { CallEnd } from './settle-call.ts'
import type { Turn } from './turn.ts'

/** How a call ends whose process died before it reported. */
export const IN_DOUBT: CallEnd = {
  settlement: 'in-doubt',
  results: new Tokenizable(
    `In doubt: the process that ran this call ended before it reported. ${EFFECT_UNKNOWN}`,
  ),
}

/** The calls of a conversation that are in doubt to this day. */
export const doubtsIn = (conversation: Conversation): readonly ToolCall[] =>
  conversation.calls.filter(
    (call) => call.settlement === 'in-doubt' && conversation.call(shownId(call)) === call,
  )

/** Tells the operator of a call that is in doubt: an event now, and a note for the log. */
export function tellDoubt(turn: Turn, { id, tool }: Pick<ToolCall, 'id' | 'tool'>): NewEntry {
  const message = `The call \`${id}\` of \`${tool}\` began and did not report; nobody knows whether it took effect.`
  turn.observed.emit('warning', { code: 'IN_DOUBT', message, toolCallId: id }, turn.origin)
  const data = { level: 'warning', code: 'IN_DOUBT', message, data: { toolCallId: id } } as const
  return { kind: 'note', turnId: turn.id, data }
}
