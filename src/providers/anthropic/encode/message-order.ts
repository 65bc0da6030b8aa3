import type { JoinRule } from '../../../model/wire/join-neighbours.ts'
import { blocksOf } from '../wire/server-tools.ts'
import type { BlockParam, MessageParam } from '../wire/wire.ts'

/** Neighbouring user messages become one, so that results come first and in one message. */
export const MESSAGES: JoinRule<MessageParam> = {
  joins: (message, earlier) => message.role === 'user' && earlier.role === 'user',
  merge: (messages) => {
    const content = messages.flatMap(asBlocks)
    // Two results of strays can meet here with a text between them.
    const results = content.filter(({ type }) => type === 'tool_result')
    const others = content.filter(({ type }) => type !== 'tool_result')
    return { role: 'user', content: [...results, ...others] }
  },
}

function asBlocks(message: MessageParam): readonly BlockParam[] {
  const { content } = message
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return blocksOf(message) as readonly BlockParam[]
}
