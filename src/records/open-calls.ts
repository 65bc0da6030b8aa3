import type { CallItem, HistoryItem, OpenCallItem } from './history-item.ts'

/** Calls that a provider began and has not settled, by the wire's own id. */
export class OpenCalls {
  readonly #waiting = new Map<string, OpenCallItem>()

  /** Takes note of an open call; one without an id on its wire can never be found again. */
  see(item: HistoryItem): void {
    if (item.type !== 'openCall') return
    const { api, callId, itemId } = item.wire
    const key = keyOf(api, callId ?? itemId)
    if (key !== undefined) this.#waiting.set(key, item)
  }

  /** Takes note that an open call has its end from somebody else: whatever still comes for it is a call of its own. */
  forget(item: OpenCallItem): void {
    const { api, callId, itemId } = item.wire
    const key = keyOf(api, callId ?? itemId)
    if (key !== undefined && this.#waiting.get(key)?.id === item.id) this.#waiting.delete(key)
  }

  /** The open call that this one settles, once. */
  take(item: CallItem): OpenCallItem | undefined {
    const { api, callId, itemId } = item.wire
    // A call that came whole under a call id is another one, whatever else had that id; without a call
    // id it is the same stored item, told again when it was done.
    const isWhole = !item.resultOnly && callId !== undefined
    const key = isWhole ? undefined : keyOf(api, callId ?? itemId)
    const found = key === undefined ? undefined : this.#waiting.get(key)
    if (key !== undefined) this.#waiting.delete(key)
    return found
  }
}

function keyOf(api: string, id: string | undefined): string | undefined {
  return id === undefined ? undefined : `${api}\n${id}`
}
