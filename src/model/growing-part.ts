import { editionOf } from '../records/growing-history.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { Repair } from './encoder.ts'
import type { ProviderKey } from './provider-data.ts'
import type { PartOptions, WireAdapter, WireEncoder } from './wire-adapter.ts'

interface Growing<Part extends object> {
  readonly encoder: WireEncoder<Part>
  /** What was pushed: all of it, or only the last item of a history that is known to grow. */
  readonly pushed: HistoryItem[]
  readonly edition: number | undefined
  count: number
  onRepair: ((repair: Repair) => void) | undefined
}

export interface GrowingOptions extends PartOptions {
  /** Hears of the repairs that were not told before. */
  readonly onRepair?: ((repair: Repair) => void) | undefined
}

/** A request part on loan: its lists are the encoder's own, which later requests go on with. */
export interface LentPart<Part extends object> {
  readonly part: Part
  /** Says that the request has been sent and nobody reads the part any more. */
  release(): void
}

/** Gives the request part for a history. */
export type EncodeGrowing<Part extends object> = (
  items: readonly HistoryItem[],
  options?: GrowingOptions,
) => LentPart<Part>

/**
 * Encodes each item of a growing history once: a turn hands over the same array, longer each time, and
 * its next step costs what is new in it. An array in which an earlier item is another one, or gone, is
 * encoded from the start, and so is one whose part is still on loan to another request.
 */
export function growingPart<Part extends object>(
  adapter: WireAdapter<Part>,
  key: Omit<ProviderKey, 'api'>,
): EncodeGrowing<Part> {
  const known = new WeakMap<readonly HistoryItem[], Growing<Part>>()

  function start(items: readonly HistoryItem[]): Growing<Part> {
    const growing: Growing<Part> = {
      encoder: adapter.encoder({ ...key, onRepair: (repair) => growing.onRepair?.(repair) }),
      pushed: [],
      edition: editionOf(items),
      count: 0,
      onRepair: undefined,
    }
    return growing
  }

  return (items, { onRepair, ...options } = {}) => {
    const before = known.get(items)
    const growing = before !== undefined && hasOnlyGrown(before, items) ? before : start(items)
    // Not to be had by another request; and an encoder that fails half way is of no use to the next.
    known.delete(items)
    growing.onRepair = onRepair
    pushNew(growing, items)
    const part = growing.encoder.part(options)
    growing.onRepair = undefined
    return { part, release: () => void known.set(items, growing) }
  }
}

function pushNew<Part extends object>(growing: Growing<Part>, items: readonly HistoryItem[]): void {
  const { encoder, pushed, edition } = growing
  for (; growing.count < items.length; growing.count++) {
    const item = items[growing.count] as HistoryItem
    encoder.push(item)
    if (edition === undefined) pushed.push(item)
    else pushed[0] = item
  }
}

function hasOnlyGrown(
  { pushed, edition, count }: Growing<object>,
  items: readonly HistoryItem[],
): boolean {
  if (edition === undefined) return pushed.every((item, index) => item === items[index])
  return edition === editionOf(items) && pushed[0] === items[count - 1]
}
