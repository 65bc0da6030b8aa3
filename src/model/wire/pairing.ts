/**
 * Finds the call that a result belongs to. A call is filed under every key that may lead to it
 * (`id:…`, `name:…`); a result looks under its own keys, most exact first.
 */
export class PairTable {
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #settled = new Map<string, Waiting>()

  open(index: number, response: string | undefined, keys: readonly string[]): void {
    const call: Waiting = { index, response, keys, isSettled: false }
    for (const key of keys) {
      const calls = this.#waiting.get(key)
      if (calls === undefined) this.#waiting.set(key, [call])
      else calls.push(call)
    }
  }

  /**
   * The index of the call to settle, or undefined for a stray result. Where a wire reuses ids, the
   * latest response's calls go first, and among those the earliest: results come in call order.
   */
  settle(keys: readonly string[], mayExtend: boolean): number | undefined {
    const isIdentified = keys.some(isIdKey)
    for (const key of keys) {
      // A result that names its call must not settle another one that has a name of its own.
      const call = this.#take(key, isIdentified && !isIdKey(key))
      if (call === undefined) continue
      call.isSettled = true
      for (const other of call.keys) this.#settled.set(other, call)
      return call.index
    }
    if (!mayExtend) return undefined
    for (const key of keys) {
      const call = this.#settled.get(key)
      if (call === undefined) continue
      if (!isIdentified || isIdKey(key) || !call.keys.some(isIdKey)) return call.index
    }
    return undefined
  }

  /** The index of the call that a result under this key would settle. */
  waiting(key: string): number | undefined {
    return this.#take(key, false)?.index
  }

  #take(key: string, onlyAnonymous: boolean): Waiting | undefined {
    const waiting = this.#waiting.get(key)?.filter((call) => !call.isSettled)
    if (waiting === undefined) return undefined
    this.#waiting.set(key, waiting)
    const calls = onlyAnonymous ? waiting.filter((call) => !call.keys.some(isIdKey)) : waiting
    const latest = calls.at(-1)?.response
    return calls.find((call) => call.response === latest)
  }
}

const isIdKey = (key: string) => key.startsWith('id:')

interface Waiting {
  readonly index: number
  readonly response: string | undefined
  readonly keys: readonly string[]
  isSettled: boolean
}
