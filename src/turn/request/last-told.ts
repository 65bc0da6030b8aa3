import type { JsonValue } from '../../core/json/json.ts'
import { toolText } from '../../model/appended-changes.ts'
import type { ToolDefinition } from '../../model/tool-definition.ts'
import type { ToldPrompt } from '../../records/history-item.ts'
import type { ModelCall } from '../../store/entry.ts'
import { partRow } from '../../store/rows/request-parts.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { Fact } from '../log/fact.ts'

/** Instructions and tools of a request that is being made. */
export interface OfferedPrompt {
  readonly instructions: string
  readonly tools: readonly ToolDefinition[]
}

/** Finds out what the last request of the log said before its history. */
export class LastTold {
  #call: ModelCall | undefined
  /** The last message of a user, and the last request before it. */
  #asked: { readonly id: string; readonly call: ModelCall | undefined } | undefined

  apply(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'message' && fact.message.role === 'user') {
        this.#asked = { id: fact.message.id, call: this.#call }
      } else if (fact.kind === 'rewind') {
        // The changes that were told since are taken back too.
        this.#call = this.#asked?.id === fact.rewind.message ? this.#asked.call : undefined
      } else if (fact.kind === 'model-call' && isTold(fact.modelCall)) this.#call = fact.modelCall
    }
  }

  /** Instructions and tools of that request, if they are stored as they were; mostly they are those of now. */
  async load(store: RunnerStore, now: OfferedPrompt): Promise<ToldPrompt | undefined> {
    const { digests, scrubbed = [] } = this.#call ?? {}
    if (digests?.instructions === undefined || digests.tools === undefined) return undefined
    if (scrubbed.includes('instructions') || scrubbed.includes('tools')) return undefined
    const [instructions, tools] = await Promise.all([
      part(store, digests.instructions, now.instructions),
      part(store, digests.tools, now.tools as unknown as JsonValue),
    ])
    if (typeof instructions !== 'string' || !Array.isArray(tools)) return undefined
    return { instructions, tools: (tools as unknown as readonly ToolDefinition[]).map(toolText) }
  }
}

/** What is said of a response in flight is not all, and what a request that failed told is not stored. */
const isTold = ({ continuation, error }: ModelCall): boolean =>
  continuation === undefined && error === undefined

async function part(store: RunnerStore, digest: string, now: JsonValue) {
  if (partRow(now).digest === digest) return now
  const blob = await store.blob(digest)
  return blob && (JSON.parse(new TextDecoder().decode(blob)) as JsonValue)
}
