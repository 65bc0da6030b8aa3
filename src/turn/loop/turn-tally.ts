import type { Usage } from '../../model/events/model-event.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { OuterTurn } from '../call/inner-turn.ts'
import type { TurnUsage } from '../limits/outcome.ts'
import type { Fact } from '../log/fact.ts'
import type { ChainUse } from './turn-chain.ts'

/** The calls of a turn in the order asked, and its usage so far. */
export class TurnTally {
  /** 0 before the first iteration. */
  iteration = 0
  usage: TurnUsage = NO_USAGE
  readonly startedAt: number
  /** What the turns that it continues have used. */
  readonly used: ChainUse
  readonly #order = new Set<string>()
  readonly #settled = new Map<string, ToolCall>()
  readonly #parent: OuterTurn | undefined

  constructor(startedAt: number, parent: OuterTurn | undefined, used: ChainUse) {
    this.startedAt = startedAt
    this.used = used
    this.#parent = parent
  }

  apply(facts: readonly Fact[]): void {
    for (const fact of facts) this.#apply(fact)
  }

  #apply(fact: Fact): void {
    if (fact.kind === 'call') this.#order.add(fact.call.item.id)
    else if (fact.kind === 'intent' && fact.intent.editOf !== undefined) {
      this.#order.add(fact.intent.id)
    } else if (fact.kind === 'settlement') {
      this.#order.add(fact.record.id)
      this.#settled.set(fact.record.id, fact.record)
    }
  }

  /** Adds a call of an earlier turn that this one continues. */
  resume(id: string): void {
    this.#order.add(id)
  }

  get callCount(): number {
    return this.#order.size + this.used.calls
  }

  has(id: string): boolean {
    return this.#settled.has(id)
  }

  get calls(): readonly ToolCall[] {
    return [...this.#order].flatMap((id) => this.#settled.get(id) ?? [])
  }

  /**
   * Adds the usage of a response, here and in every outer turn at once: a call that is given up, or a turn that fails,
   * costs as much.
   */
  add(usage: Usage | undefined): void {
    // An executor may be a remote service.
    if (typeof usage !== 'object' || usage === null) return
    const { nested } = this.usage
    this.usage = { ...plusUsage(this.usage, usage), ...(nested && { nested }) }
    this.#parent?.addUsage(usage)
  }

  /** Adds the usage of a response in an inner turn. */
  addNested(usage: Usage): void {
    const nested = Object.freeze(plusUsage(this.usage.nested ?? NO_USAGE, usage))
    this.usage = { ...plusUsage(this.usage, usage), nested }
    this.#parent?.addUsage(usage)
  }
}

/** The usage of a turn before its first model call. */
export const NO_USAGE: TurnUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 })

/** The usage of one response, with valid counts only. */
export function countedUsage(usage: Usage | undefined): Usage | undefined {
  return typeof usage === 'object' && usage !== null
    ? Object.freeze(plusUsage(NO_USAGE, usage))
    : undefined
}

function plusUsage(sum: Usage, more: Usage): Usage {
  const written = (sum.cacheWriteTokens ?? 0) + count(more.cacheWriteTokens)
  return {
    inputTokens: sum.inputTokens + count(more.inputTokens),
    outputTokens: sum.outputTokens + count(more.outputTokens),
    cachedInputTokens: (sum.cachedInputTokens ?? 0) + count(more.cachedInputTokens),
    ...(written > 0 && { cacheWriteTokens: written }),
    reasoningTokens: (sum.reasoningTokens ?? 0) + count(more.reasoningTokens),
  }
}

/** Ignores invalid counts: one NaN would corrupt the totals and the log. */
function count(value: number | undefined): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0
}
