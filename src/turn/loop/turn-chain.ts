import type { Entry } from '../../store/entry.ts'

/** What the turns of a chain have used so far: `limits` count over all of them. */
export interface ChainUse {
  readonly iterations: number
  readonly calls: number
  /** How long they held the conversation. */
  readonly timeMs: number
}

export const UNUSED: ChainUse = { iterations: 0, calls: 0, timeMs: 0 }

/** Reads the last chain of a log: a turn, and the turns that `resume` and `recover` added to it. */
export class TurnChain {
  /** The ids of its turns, the first one first. */
  turns: string[] = []
  /** The name that its last turn has in a trace. */
  trace: string | undefined
  #responses = new Set<string>()
  #calls = 0
  #timeMs = 0
  #startedAt: number | undefined
  #last = 0

  /** The first turn; undefined in an empty log. */
  get first(): string | undefined {
    return this.turns[0]
  }

  read(entry: Entry): void {
    if (entry.kind === 'turn-start') {
      this.#start(entry.turnId, entry.data.continues, entry.time)
      this.trace = entry.data.trace
    }
    this.#last = entry.time
    const { response } = entry.data as { readonly response?: unknown }
    if (typeof response === 'string') this.#responses.add(response)
    if (entry.kind === 'settlement') this.#calls++
    if (entry.kind === 'turn-end') this.#stop()
  }

  #start(turnId: string, continues: string | undefined, time: number): void {
    // A turn whose process died held the conversation until its last entry.
    this.#stop()
    if (continues === undefined || continues !== this.first) {
      this.turns = []
      this.#responses = new Set()
      this.#calls = 0
      this.#timeMs = 0
    }
    this.turns.push(turnId)
    this.#startedAt = time
  }

  #stop(): void {
    if (this.#startedAt !== undefined) this.#timeMs += Math.max(0, this.#last - this.#startedAt)
    this.#startedAt = undefined
  }

  get use(): ChainUse {
    return { iterations: this.#responses.size, calls: this.#calls, timeMs: this.#timeMs }
  }
}
