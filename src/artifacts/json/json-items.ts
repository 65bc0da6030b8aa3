import { pacer } from '../../spool/event-loop.ts'
import { decodeUtf8 } from '../../spool/line-text.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { ItemPosition } from '../query/cursor.ts'
import { runAtOnce, runInTurns, type Steps } from '../query/steps.ts'
import { type JsonPlace, type ScanOptions, scanMembers } from './json-document.ts'
import type { JsonType } from './json-member.ts'

/** A member that a query goes by: its text, or only its size when it is too large to hold. */
export interface JsonItem {
  readonly index: number
  readonly key: string | undefined
  readonly type: JsonType
  readonly byteLength: number
  readonly text: string | undefined
  /** The bytes of `text`, good until `take` returns. */
  readonly bytes: Uint8Array | undefined
}

/** Which items to go over, and for how long. */
export interface ItemRange extends ScanOptions {
  /** Continue after this position, instead of at `start`. */
  readonly after?: ItemPosition
  readonly start: number
  readonly end: number
}

/** Whether an item was taken, passed over, or has to wait for the next answer. */
export type Taken = 'taken' | 'passed' | 'full'

/** Where a walk over items ended, and where to continue if there is more. */
export interface ItemsEnd {
  readonly next: ItemPosition | undefined
  readonly outOfTime: boolean
  /** Items that the walk went by, those before `start` included. */
  readonly seen: number
}

/** Which items to go over, beginning at a cursor if there is one. */
export type WalkRange = Omit<ItemRange, 'after'> & { readonly cursor?: string | undefined }

/** Where a walk ended, with the cursor to continue from. */
export type WalkEnd = ItemsEnd & { readonly cursor?: string }

/** What happens with an item: decided at once, or after some steps. */
export type Taking = Taken | Steps<Taken>

/** Larger items are looked at in turns with other work. */
const LARGE_BYTES = 32 * 1024

/** Hands the members of a container in a range to `take`, in order, until it is full. */
export async function walkItems(
  reader: SpoolReader,
  place: JsonPlace,
  { after, start, end, ...options }: ItemRange,
  take: (item: JsonItem) => Taking,
): Promise<ItemsEnd> {
  const pace = pacer()
  let behind: ItemPosition = after ?? { index: 0, byte: place.byte }
  let isFull = false
  let large: { readonly item: JsonItem; readonly behind: ItemPosition } | undefined
  const scanned = await scanMembers(reader, place, after, options, {
    begin({ index }) {
      // Written this way, `NaN` gives an empty range.
      if (!(index < end)) return 'stop'
      return index < start ? 'skip' : 'keep'
    },
    end({ index, key, type, start: from, end: to, bytes }) {
      const next = { index: index + 1, byte: to }
      if (index >= start) {
        const text = bytes === undefined ? undefined : decodeUtf8(bytes)
        const item = { index, key, type, byteLength: to - from, text, bytes }
        if (bytes !== undefined && bytes.length > LARGE_BYTES) {
          large = { item, behind: next }
          return 'pause'
        }
        isFull = takeAtOnce(take(item)) === 'full'
        if (isFull) return 'stop'
      }
      behind = next
      return 'continue'
    },
    async paused() {
      if (large === undefined) return 'continue'
      const taking = take(large.item)
      isFull = (typeof taking === 'string' ? taking : await runInTurns(taking, pace)) === 'full'
      if (isFull) return 'stop'
      behind = large.behind
      return 'continue'
    },
  })
  const outOfTime = scanned.by === 'time'
  return { next: isFull || outOfTime ? behind : undefined, outOfTime, seen: behind.index }
}

const takeAtOnce = (taking: Taking) => (typeof taking === 'string' ? taking : runAtOnce(taking))
