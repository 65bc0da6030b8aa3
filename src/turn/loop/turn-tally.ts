import type { Usage } from '../../model/events/model-event.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { Cost, OuterTurn } from '../call/inner-turn.ts'
import { tooManyTokens, tooMuchCost, unknownCost } from '../limits/limits.ts'
import type { StopReason, TurnUsage } from '../limits/outcome.ts'
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
  /** A model that was used and has no price. */
  #unpriced: string | undefined
  /** Input of model calls that have not ended, here and in inner turns. */
  readonly #pending: Amount = { tokens: 0, cost: 0 }
  readonly #rules: SpendingRules
  readonly #order = new Set<string>()
  readonly #settled = new Map<string, ToolCall>()
  readonly #parent: OuterTurn | undefined

  constructor(
    startedAt: number,
    rules: SpendingRules,
    parent: OuterTurn | undefined,
    used: ChainUse,
  ) {
    this.startedAt = startedAt
    this.#rules = rules
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
  add(usage: Usage | undefined, cost?: Cost): void {
    // An executor may be a remote service.
    if (typeof usage !== 'object' || usage === null) return
    const { nested } = this.usage
    this.usage = { ...plusCost(this.usage, usage, cost), ...(nested && { nested }) }
    this.#unpriced ??= cost?.unpriced
    this.#parent?.addUsage(usage, cost)
  }

  /** Adds the usage of a response in an inner turn. */
  addNested(usage: Usage, cost?: Cost): void {
    const nested = Object.freeze(plusCost(this.usage.nested ?? NO_USAGE, usage, cost))
    this.usage = { ...plusCost(this.usage, usage, cost), nested }
    this.#unpriced ??= cost?.unpriced
    this.#parent?.addUsage(usage, cost)
  }

  /** Why a model call with this input must not be made, by the limits of this turn and of those around it. */
  overspent(next: Amount): StopReason | undefined {
    const { limits, before } = this.#rules
    const { inputTokens, outputTokens, cost = 0 } = this.usage
    const pending = this.#pending
    if (before.tokens + inputTokens + outputTokens + pending.tokens + next.tokens > limits.tokens) {
      return tooManyTokens(limits.tokens)
    }
    if (Number.isFinite(limits.cost)) {
      if (this.#unpriced !== undefined) return unknownCost(this.#unpriced)
      if (before.cost + cost + pending.cost + next.cost > limits.cost)
        return tooMuchCost(limits.cost)
    }
    return this.#parent?.overspent(next)
  }

  /** Counts the input of a model call until it has ended, so that calls side by side see each other. */
  hold({ tokens, cost }: Amount, sign: 1 | -1): void {
    this.#pending.tokens += sign * tokens
    this.#pending.cost += sign * cost
    this.#parent?.hold({ tokens, cost }, sign)
  }
}

/** Tokens, and what they cost. */
export interface Amount {
  tokens: number
  cost: number
}

/** What a turn that continues no other begins with. */
export const NOTHING_SPENT: Readonly<Amount> = Object.freeze({ tokens: 0, cost: 0 })

/** What a turn may spend, and what the turns that it continues have spent. */
export interface SpendingRules {
  readonly limits: { readonly tokens: number; readonly cost: number }
  readonly before: Readonly<Amount>
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

/** The sum with its cost, where there are prices. */
function plusCost(sum: TurnUsage, more: Usage, { amount }: Cost = {}): TurnUsage {
  const cost = amount === undefined ? sum.cost : (sum.cost ?? 0) + amount
  return { ...plusUsage(sum, more), ...(cost !== undefined && { cost }) }
}

/** Ignores invalid counts: one NaN would corrupt the totals and the log. */
function count(value: number | undefined): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0
}
