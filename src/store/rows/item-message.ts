import { Message } from '../../records/message.ts'
import { spokenText } from '../../records/spoken-text.ts'
import type { EntryOf } from '../entry.ts'

/** The text of a message that no record holds whole. Memories, retrievables and a provider's other items are not messages. */
export function itemMessage({ time, data }: EntryOf<'history-item'>): Message | undefined {
  if (data.type !== 'message' || data.role === 'system' || data.context) return undefined
  const { id, role, parts, response } = data
  const content = spokenText(parts)
  if (content === '') return undefined
  return new Message({ id, role, content, createdAt: time, ...(response && { response }) })
}
