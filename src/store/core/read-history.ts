import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import { Message } from '../../records/message.ts'
import { Thought } from '../../records/thought.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { Entry } from '../entry.ts'
import { placeOf, positionAt } from '../position.ts'
import { decodeEntry } from '../rows/entry-text.ts'
import { itemMessage } from '../rows/item-message.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { pageSize } from '../rows/store-input.ts'
import type { ConversationRow } from '../rows/store-rows.ts'
import type { HistoryPage, HistoryQuery } from '../store.ts'
import { RewoundEntries } from './rewound-entries.ts'

/** How many entries are read at a time at most. */
const MAX_WINDOW = 500
/** A call has about this many entries for its one record. */
const ENTRIES_A_RECORD = 4

/** Reads backwards from the end of the page, and no further than it takes to know that there is an earlier one. */
export async function readHistory(
  driver: Pick<StoreDriver, 'texts' | 'text' | 'find'>,
  { id, length }: Pick<ConversationRow, 'id' | 'length'>,
  { before, limit = 50 }: Pick<HistoryQuery, 'before' | 'limit'>,
  context: RestoreContext,
): Promise<HistoryPage> {
  const size = pageSize(limit)
  const window = Math.min(size * ENTRIES_A_RECORD, MAX_WINDOW)
  const rewound = await RewoundEntries.of(driver, id)
  const items: (Message | Thought | ToolCall)[] = []
  let oldest = 0
  for (let last = Math.min(length, lastBefore(before)); last > 0; last -= window) {
    const from = Math.max(1, last - window + 1)
    const rows = await driver.texts(id, from, last - from + 1)
    for (const row of rows.toReversed()) {
      const entry = decodeEntry(id, row)
      const item = recordOf(entry, context)
      if (item === undefined || (await rewound.has(entry))) continue
      if (items.length === size) {
        const place = positionAt({ seq: oldest, n: 0 })
        return { items: items.toReversed(), before: place }
      }
      items.push(item)
      oldest = entry.seq
    }
  }
  return { items: items.toReversed() }
}

/** The last entry before a position. */
function lastBefore(position: string | undefined): number {
  if (position === undefined) return Number.POSITIVE_INFINITY
  const { seq, n } = placeOf(position)
  return n === 0 ? seq - 1 : seq
}

/** The record of an entry, where it has one: what a person, the model or a tool said. */
function recordOf(entry: Entry, context: RestoreContext): Message | Thought | ToolCall | undefined {
  switch (entry.kind) {
    case 'message':
      return Message.fromJSON(entry.data, context)
    case 'thought':
      return Thought.fromJSON(entry.data)
    case 'settlement':
      return ToolCall.fromJSON(entry.data, context)
    case 'history-item': {
      const message = itemMessage(entry)
      // The others are written by the runner or the application, for the model.
      return message?.role === 'assistant' ? message : undefined
    }
    default:
      return undefined
  }
}
