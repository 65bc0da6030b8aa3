import type { CallItem, HistoryItem, OpenCallItem } from '../records/history-item.ts'

/** Calls that a provider began and has not settled, by the wire's own id. */
export class OpenCalls {
  readonly #waiting = new Map<string, OpenCallItem>()

  /** Takes note of an open call; one without an id on its wire can never be found again. */
  see(item: HistoryItem): void {
    const key = item.type === 'openCall' ? keyOf(item) : undefined
    if (key !== undefined) this.#waiting.set(key, item as OpenCallItem)
  }

  /** The open call that this one settles, once. */
  take(item: CallItem): OpenCallItem | undefined {
    const key = keyOf(item)
    const found = key === undefined ? undefined : this.#waiting.get(key)
    if (key !== undefined) this.#waiting.delete(key)
    return found
  }
}

function keyOf({ wire }: CallItem | OpenCallItem): string | undefined {
  return wire.callId === undefined ? undefined : `${wire.api}\n${wire.callId}`
}
