import type { EncodeOptions } from '../../../model/wire/encode-groups.ts'
import type { JoinRule } from '../../../model/wire/join-neighbours.ts'
import { type Block, type ConverseMessage, taggedOf } from '../wire/wire.ts'

/** Roles alternate, so that neighbours of one role become one message, with results first. */
export const MESSAGES: JoinRule<ConverseMessage> = {
  joins: (message, earlier) => message.role === earlier.role,
  merge: (messages) => {
    const [first] = messages as readonly [ConverseMessage]
    const content = messages.flatMap((message) => message.content)
    return { role: first.role, content: first.role === 'user' ? resultsFirst(content) : content }
  },
}

/**
 * A system message right after the assistant goes after the next user message: Claude was seen to refuse it
 * there, and results must come right after their calls.
 */
export function systemBehindUser(messages: readonly ConverseMessage[]): readonly ConverseMessage[] {
  const ordered: ConverseMessage[] = []
  const held: ConverseMessage[] = []
  for (const message of messages) {
    const before = ordered.at(-1)
    if (message.role === 'system' && (held.length > 0 || before?.role === 'assistant')) {
      held.push(message)
      continue
    }
    if (message.role === 'assistant') ordered.push(...held.splice(0))
    ordered.push(message)
    if (message.role === 'user') ordered.push(...held.splice(0))
  }
  return [...ordered, ...held]
}

/** Two results of strays can meet with a text between them. A cache point stays after its block. */
function resultsFirst(content: readonly Block[]): Block[] {
  const isOfResult = (block: Block, at: number): boolean => {
    const tag = taggedOf(block)?.tag
    const before = content[at - 1]
    if (tag === 'cachePoint' && before !== undefined) return isOfResult(before, at - 1)
    return tag === 'toolResult'
  }
  return [...content.filter(isOfResult), ...content.filter((block, at) => !isOfResult(block, at))]
}

// A conversation must begin with a person. A document needs words beside it.
const OPENING: ConverseMessage = {
  role: 'user',
  content: [{ text: '(Earlier messages are left out.)' }],
}
const WORDS: Block = { text: '(See the document.)' }

/** Adds what the wire wants to be there. */
export function withAllowedEnds(
  messages: readonly ConverseMessage[],
  { onRepair }: EncodeOptions,
): ConverseMessage[] {
  const added = (message: string) => onRepair?.({ kind: 'added', item: 'message', message })
  const worded = messages.map((message) => {
    if (!isWordless(message)) return message
    added('A text was added to a message: the wire takes a document only beside a text.')
    return { ...message, content: [...message.content, WORDS] }
  })
  const first = worded.find(({ role }) => role !== 'system')
  if (first === undefined || first.role === 'user') return worded
  added('A message was added at the beginning: the wire does not begin with the assistant.')
  return [OPENING, ...worded]
}

/** A message with a document and without a text. */
export function isWordless({ content }: Pick<ConverseMessage, 'content'>): boolean {
  const tags = content.map((block) => taggedOf(block)?.tag)
  return tags.includes('document') && !tags.includes('text')
}
