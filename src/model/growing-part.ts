import type { HistoryItem } from '../records/history-item.ts'
import type { Repair } from './encoder.ts'
import type { ProviderKey } from './provider-data.ts'
import type { WireAdapter, WireEncoder } from './wire-adapter.ts'

interface Growing<Part extends object> {
  readonly encoder: WireEncoder<Part>
  readonly pushed: HistoryItem[]
  onRepair: ((repair: Repair) => void) | undefined
}

/** Gives the request part for a history. Whoever asks hears of repairs that were not told before. */
export type EncodeGrowing<Part extends object> = (
  items: readonly HistoryItem[],
  onRepair?: (repair: Repair) => void,
) => Part

/**
 * Encodes each item of a growing history once: a turn hands over the same array, longer each time, and
 * its next step costs what is new in it. An array in which an earlier item is another one, or gone, is
 * encoded from the start.
 */
export function growingPart<Part extends object>(
  adapter: WireAdapter<Part>,
  key: Omit<ProviderKey, 'api'>,
): EncodeGrowing<Part> {
  const known = new WeakMap<readonly HistoryItem[], Growing<Part>>()

  function start(): Growing<Part> {
    const growing: Growing<Part> = {
      encoder: adapter.encoder({ ...key, onRepair: (repair) => growing.onRepair?.(repair) }),
      pushed: [],
      onRepair: undefined,
    }
    return growing
  }

  return (items, onRepair) => {
    const before = known.get(items)
    const growing = before !== undefined && isBeginning(before.pushed, items) ? before : start()
    // An encoder that failed half way is of no use to the next request.
    known.delete(items)
    growing.onRepair = onRepair
    for (const item of items.slice(growing.pushed.length)) {
      growing.encoder.push(item)
      growing.pushed.push(item)
    }
    const part = growing.encoder.part()
    growing.onRepair = undefined
    known.set(items, growing)
    return part
  }
}

function isBeginning(beginning: readonly HistoryItem[], items: readonly HistoryItem[]): boolean {
  return beginning.every((item, index) => item === items[index])
}
