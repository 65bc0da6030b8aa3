import type { ModelEvent } from './events/model-event.ts'
import type { EventBatches } from './stream-response.ts'

/** How many conversations are remembered. */
const MAX = 1_000

/** The id of the last response of each conversation, as the provider gave it. A restarted process begins without them. */
export class LastResponses {
  readonly #ids = new Map<string, string>()

  /** Null before the first response. */
  of(conversation: string | undefined): string | null {
    return this.#ids.get(conversation ?? '') ?? null
  }

  see(conversation: string | undefined, events: readonly ModelEvent[]): void {
    const last = events.at(-1)
    if (last?.type !== 'finish' || last.responseId === undefined) return
    this.#ids.delete(conversation ?? '')
    this.#ids.set(conversation ?? '', last.responseId)
    const [oldest] = this.#ids.keys()
    if (this.#ids.size > MAX && oldest !== undefined) this.#ids.delete(oldest)
  }

  async *follow(
    conversation: string | undefined,
    batches: EventBatches | readonly never[],
  ): EventBatches {
    for await (const batch of batches) {
      this.see(conversation, batch)
      yield batch
    }
  }
}
