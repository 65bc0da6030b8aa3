import type { WireReference } from '../core/wire-reference.ts'
import type { HistoryItem, MessageItem } from '../records/history-item.ts'
import { Message } from '../records/message.ts'
import { Thought } from '../records/thought.ts'
import type { NewEntry } from '../store/entry.ts'
import { LastingEntry } from '../store/lasting-entry.ts'

/** Where calls come from that no provider made. */
export const OWN_WIRE: WireReference = Object.freeze({
  provider: 'bobbin',
  api: 'executor',
  type: 'call',
  origin: 'synthetic',
})

interface EntryFacts {
  readonly turnId: string
  readonly id: string
  readonly at: number
}

/**
 * The log entry for an item of a response: a record where one holds everything that the item says, the
 * item verbatim where the provider said more.
 */
export function entryForItem(item: HistoryItem, { turnId, id, at }: EntryFacts): NewEntry {
  const origin = {
    id,
    createdAt: at,
    ...('providerData' in item && item.providerData && { providerData: item.providerData }),
    ...(item.response !== undefined && { response: item.response }),
  }
  if (item.type === 'thought') {
    return {
      kind: 'thought',
      turnId,
      data: new Thought({ ...origin, content: item.text }).toJSON(),
    }
  }
  const text = item.type === 'message' ? plainText(item) : undefined
  if (item.type === 'message' && item.role !== 'system' && text !== undefined) {
    const message = new Message({ ...origin, role: item.role, content: text })
    return LastingEntry.message(turnId, message)
  }
  return { kind: 'history-item', turnId, data: { id, ...item } }
}

/** The text of a message that is one piece of text and nothing else. */
function plainText({ parts }: MessageItem): string | undefined {
  const [part] = parts
  if (parts.length !== 1 || part?.type !== 'text' || part.providerData !== undefined)
    return undefined
  return part.text
}

/** A stored thought as the models see it. */
export function itemForThought({ content, providerData, response }: Thought): HistoryItem {
  return {
    type: 'thought',
    text: content.text,
    ...(providerData && { providerData }),
    ...(response !== undefined && { response }),
  }
}
