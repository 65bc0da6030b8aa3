import type { JsonValue } from '../core/json.ts'
import { decodeUtf8 } from '../spool/line-text.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { ItemPosition } from './cursor.ts'
import { type JsonPlace, type ScanOptions, scanMembers } from './json-document.ts'
import type { JsonType } from './json-member.ts'

/** A member that a query goes by: its text, or only its size when it is too large to hold. */
export interface JsonItem {
  readonly index: number
  readonly key: string | undefined
  readonly type: JsonType
  readonly byteLength: number
  readonly text: string | undefined
}

export interface ItemRange extends ScanOptions {
  /** Go on behind this position, instead of `start`. */
  readonly after?: ItemPosition
  readonly start: number
  readonly end: number
}

/** Whether an item was taken, passed over, or has to wait for the next answer. */
export type Taken = 'taken' | 'passed' | 'full'

/** Where a walk over items ended, and where to go on unless there is nothing more. */
export interface ItemsEnd {
  readonly next: ItemPosition | undefined
  readonly outOfTime: boolean
  /** Items that the walk went by, those before `start` included. */
  readonly seen: number
}

/** Hands the members of a container in a range to `take`, in order, until it is full. */
export async function walkItems(
  reader: SpoolReader,
  place: JsonPlace,
  { after, start, end, ...options }: ItemRange,
  take: (item: JsonItem) => Taken,
): Promise<ItemsEnd> {
  let behind: ItemPosition = after ?? { index: 0, byte: place.byte }
  let reachedEnd = false
  let isFull = false
  const scanned = await scanMembers(reader, place, after, options, {
    begin({ index }) {
      reachedEnd = index >= end
      if (reachedEnd) return 'stop'
      return index < start ? 'skip' : 'keep'
    },
    end({ index, key, type, start: from, end: to, bytes }) {
      if (index >= start) {
        const text = bytes === undefined ? undefined : decodeUtf8(bytes)
        isFull = take({ index, key, type, byteLength: to - from, text }) === 'full'
        if (isFull) return 'stop'
      }
      behind = { index: index + 1, byte: to }
      return 'go on'
    },
  })
  const outOfTime = scanned.by === 'time'
  return { next: isFull || outOfTime ? behind : undefined, outOfTime, seen: behind.index }
}

/** The value of an item's text. */
export const parseItem = (text: string): JsonValue => JSON.parse(text) as JsonValue
