import type { JsonObject } from '../../../core/json.ts'
import { asText, without } from '../../../model/wire-value.ts'
import type { HistoryItem } from '../../../records/history-item.ts'

/** Items that mean the same without the id under which the provider stores them. */
const STANDS_ALONE = new Set(['message', 'computer_call', 'local_shell_call'])

/**
 * Sees to it that no stored item is sent twice in a request: the first history item that brings an id
 * keeps it. Asking again for the same history item gives the same answer.
 */
export class SentItems {
  readonly #owners = new Map<string, HistoryItem>()

  /** The entry as it may be sent for `owner`, or undefined when another has sent it already. */
  once(entry: JsonObject, owner: HistoryItem): JsonObject | undefined {
    const id = asText(entry['id'])
    if (id === undefined) return entry
    const first = this.#owners.get(id)
    if (first === undefined) this.#owners.set(id, owner)
    if (first === undefined || first === owner) return entry
    return STANDS_ALONE.has(asText(entry['type']) ?? '') ? without(entry, 'id') : undefined
  }
}
