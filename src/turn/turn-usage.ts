import type { Usage } from '../model/model-event.ts'
import type { TurnUsage } from './outcome.ts'
import type { Turn } from './turn.ts'

/** The usage of a turn that has asked nobody yet. */
export const NO_USAGE: TurnUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 })

/**
 * Counts what a response cost for its turn, and for every turn around it at once: a call that is given up, or
 * a turn that fails, has cost it all the same.
 */
export function addUsage(turn: Turn, usage: Usage | undefined): void {
  // An executor may be anybody's service.
  if (typeof usage !== 'object' || usage === null) return
  const { nested } = turn.usage
  const own = plus(turn.usage, usage)
  turn.usage = nested === undefined ? own : { ...own, nested }
  for (let outer = turn.parent; outer !== undefined; outer = outer.parent) {
    const within = Object.freeze(plus(outer.usage.nested ?? NO_USAGE, usage))
    outer.usage = { ...plus(outer.usage, usage), nested: within }
  }
}

/** What a response cost, as it is told: only what can be counted. */
export function countedUsage(usage: Usage | undefined): Usage | undefined {
  return typeof usage === 'object' && usage !== null
    ? Object.freeze(plus(NO_USAGE, usage))
    : undefined
}

const plus = (sum: Usage, more: Usage): Usage => ({
  inputTokens: sum.inputTokens + count(more.inputTokens),
  outputTokens: sum.outputTokens + count(more.outputTokens),
  cachedInputTokens: (sum.cachedInputTokens ?? 0) + count(more.cachedInputTokens),
  reasoningTokens: (sum.reasoningTokens ?? 0) + count(more.reasoningTokens),
})

/** What is no count would spoil every sum that it goes into, and the log with it. */
function count(value: number | undefined): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0
}
