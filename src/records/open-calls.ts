import type { CallItem, HistoryItem, OpenCallItem } from './history-item.ts'

/** Calls that a provider began and has not settled, by the wire's own id. */
export class OpenCalls {
  readonly #waiting: Map<string, OpenCallItem>

  constructor(waiting: Iterable<readonly [string, OpenCallItem]> = []) {
    this.#waiting = new Map(waiting)
  }

  /** A copy of the open calls, for looking ahead. */
  copy(): OpenCalls {
    return new OpenCalls(this.#waiting)
  }

  /** Takes note of an open call; one without an id on its wire can never be found again. */
  see(item: HistoryItem): void {
    if (item.type !== 'openCall') return
    const { api, callId, itemId } = item.wire
    const key = keyOf(api, callId ?? itemId)
    if (key !== undefined) this.#waiting.set(key, item)
  }

  /** Closes an open call that ended elsewhere: a later result with its id belongs to a new call. */
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
