import type { HistoryItem } from './history-item.ts'

/** How often an earlier item was replaced, for each history that only its holder may change. */
const editions = new WeakMap<readonly HistoryItem[], number>()

/**
 * Starts a history that grows by `push` and is changed by `replaceItem`, and in no other way: whoever
 * has read it once reads only what is new. About any other array nobody can know that much.
 */
export function growingHistory(items: HistoryItem[] = []): HistoryItem[] {
  editions.set(items, 0)
  return items
}

/** Puts another item in the place of one that was there, and lets readers know. */
export function replaceItem(items: HistoryItem[], index: number, item: HistoryItem): void {
  items[index] = item
  const edition = editions.get(items)
  if (edition !== undefined) editions.set(items, edition + 1)
}

/** While it stays the same, the history has only grown. Undefined for an array that is none. */
export function editionOf(items: readonly HistoryItem[]): number | undefined {
  return editions.get(items)
}
