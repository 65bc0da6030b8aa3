import type { JsonObject } from '../../../../core/json/json.ts'
import { asText, without } from '../../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../../records/history-item.ts'
import { typeOf } from '../wire/wire.ts'

/** Items that mean the same without the id under which the provider stores them. */
const STANDS_ALONE = new Set(['message', 'computer_call', 'local_shell_call'])

/**
 * Sends each stored item once per request: the first history item that brings an id keeps it.
 */
export class SentItems {
  readonly #owners = new Map<string, HistoryItem>()
  #references = 0

  /** The entry as it may be sent for `owner`, or undefined when another has sent it already. */
  once(entry: JsonObject, owner: HistoryItem): JsonObject | undefined {
    const id = asText(entry['id'])
    if (id === undefined) return entry
    const first = this.#owners.get(id)
    if (first === undefined) {
      this.#owners.set(id, owner)
      if (mayBeCall(entry)) this.#references++
    }
    if (first === undefined || first === owner) return entry
    const isOurs = owner.type === 'call' && owner.executedBy === 'runner'
    const standsAlone = isOurs || STANDS_ALONE.has(asText(entry['type']) ?? '')
    return standsAlone ? without(entry, 'id') : undefined
  }

  /** True when a reference that was sent may stand for a call that is not there; each stands for one. */
  takeReference(): boolean {
    return this.#references > 0 && this.#references-- > 0
  }
}

/** True for a reference to a stored item, unless its id says that it is reasoning or a message. */
export function mayBeCall(item: JsonObject): boolean {
  return typeOf(item) === 'item_reference' && !/^(rs|msg)_/.test(asText(item['id']) ?? '')
}
