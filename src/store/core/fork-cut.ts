import { CALL_NOTE, type Entry, HAND_OVER_NOTE, TAINT } from '../entry.ts'

/** Notes about what stands before them: without one, a call has handed over and the other agent is not active. */
const SAME_COMMIT: ReadonlySet<string> = new Set([CALL_NOTE, TAINT, HAND_OVER_NOTE])

/** Follows a log, and knows after which entries it may be cut: no call and no gate is open there, and no response is split. */
export class ForkCut {
  readonly #calls = new Set<string>()
  /** Calls that a provider began. */
  readonly #provided = new Set<string>()
  readonly #gates = new Set<string>()
  readonly #settled = new Set<string>()
  readonly #responses = new Set<string>()
  /** Whether memories and retrievables wait for the response that they were shown for. */
  #hasContext = false

  /** Whether the log may end before this entry; without one, whether it may end here. */
  isCleanBefore(next: Entry | undefined): boolean {
    const isOpen = this.#calls.size + this.#provided.size + this.#gates.size > 0
    return !isOpen && !this.#hasContext && !(next !== undefined && this.#belongs(next))
  }

  /** Whether an entry says more about the response before it. */
  #belongs(entry: Entry): boolean {
    if (entry.kind === 'note') return SAME_COMMIT.has(entry.data.code)
    const response = responseOf(entry)
    return response !== undefined && this.#responses.has(response)
  }

  take(entry: Entry): void {
    const response = responseOf(entry)
    if (response !== undefined) {
      this.#responses.add(response)
      this.#hasContext = false
    }
    switch (entry.kind) {
      case 'history-item':
        this.#takeItem(entry.data)
        break
      case 'intent':
        // The intent of a `read` may follow its settlement, because one commit holds both.
        if (!this.#settled.has(entry.data.id)) this.#calls.add(entry.data.id)
        break
      case 'settlement':
        this.#settle(entry.data['id'] as string)
        break
      case 'gate-opened':
        this.#gates.add(entry.data.id)
        break
      case 'gate-closed':
        this.#gates.delete(entry.data.id)
        break
      case 'turn-start':
        // The conversation continued without what a provider had left open.
        if (entry.data.continues === undefined) this.#provided.clear()
        break
      case 'turn-end':
        if (entry.data.status === 'completed') this.#provided.clear()
        break
      default:
        break
    }
  }

  #takeItem(item: Extract<Entry, { kind: 'history-item' }>['data']): void {
    if (item.type === 'openCall') this.#provided.add(item.id)
    else if (item.type === 'call' && item.executedBy === 'runner') this.#calls.add(item.id)
    else if (item.type === 'message' && item.context !== undefined) this.#hasContext = true
  }

  #settle(id: string): void {
    this.#settled.add(id)
    this.#calls.delete(id)
    this.#provided.delete(id)
  }
}

/** The response that an entry is a part of. */
function responseOf({ kind, data }: Entry): string | undefined {
  const { id, response } = data as { readonly id?: unknown; readonly response?: unknown }
  const found = kind === 'model-call' ? id : response
  return typeof found === 'string' ? found : undefined
}
