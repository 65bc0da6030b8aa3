import type { Clock } from '../../core/clock.ts'
import { atLeast, type OptionTable } from '../../core/options.ts'
import type { StopReason } from './outcome.ts'

/** Where a turn stops. `Infinity` turns a limit off. */
export interface TurnLimits {
  /** How often a turn may ask its executor; 20 unless given. */
  readonly iterations?: number
  /** How many calls a turn may have; 200 unless given. */
  readonly calls?: number
  /** How long a turn may take, in milliseconds; 30 minutes unless given. */
  readonly timeMs?: number
  /**
   * How many tokens the model calls of a turn may have, input and output, with those of its sub-agents and of the turns that
   * it continues. Checked before each model call, so that one response may go beyond it. No limit unless given.
   */
  readonly tokens?: number
  /** The same in the currency of `prices`, which must have a price for every model. */
  readonly cost?: number
}

export const TURN_LIMITS = {
  iterations: atLeast(1, 20),
  calls: atLeast(1, 200),
  timeMs: atLeast(1, 30 * 60_000),
  tokens: atLeast(1, Number.POSITIVE_INFINITY),
  cost: atLeast(0, Number.POSITIVE_INFINITY),
} satisfies OptionTable<TurnLimits>

/** The reason to stop before the next iteration; undefined to continue. */
export function limitReached(
  limits: Required<TurnLimits>,
  iteration: number,
  startedAt: number,
  clock: Clock,
): StopReason | undefined {
  if (iteration > limits.iterations) {
    return tooManyIterations(limits.iterations)
  }
  return clock.now() - startedAt > limits.timeMs ? tooMuchTime(limits.timeMs) : undefined
}

const tooManyIterations = (iterations: number): StopReason => ({
  code: 'MAX_ITERATIONS',
  message: `The turn was stopped because the model was asked ${iterations} times. Raise \`limits.iterations\`, or ask for less at once.`,
})

/** The reason when the turn has made all the calls it may make. */
export const tooManyCalls = (calls: number): StopReason => ({
  code: 'MAX_CALLS',
  message: `The turn was stopped because it made ${calls} calls. Raise \`limits.calls\`, or ask for less at once.`,
})

/** The most calls that one response may hold: more is a model or a server out of control. */
export const MAX_CALLS_PER_RESPONSE = 256

/** The reason when a response holds more calls than any response may. */
export const tooManyInResponse = (calls: number): StopReason => ({
  code: 'TOO_MANY_CALLS',
  message: `The model asked for ${calls} calls in one response; at most ${MAX_CALLS_PER_RESPONSE} are allowed. None of them ran.`,
})

/** The reason when the time of the turn is over. */
export const tooMuchTime = (timeMs: number): StopReason => ({
  code: 'MAX_TIME',
  message: `The turn was stopped because it took longer than ${timeMs} ms. Raise \`limits.timeMs\`, or ask for less at once.`,
})

/** The reason when the next model call would have too many tokens. */
export const tooManyTokens = (tokens: number): StopReason => ({
  code: 'MAX_TOKENS',
  message: `The turn was stopped because its next model call would take it over ${tokens} tokens. Raise \`limits.tokens\`, or ask for less at once.`,
})

/** The reason when the next model call would cost too much. */
export const tooMuchCost = (cost: number): StopReason => ({
  code: 'MAX_COST',
  message: `The turn was stopped because its next model call would take its cost over ${cost}. Raise \`limits.cost\`, or ask for less at once.`,
})

/** The reason when the cost of the turn is unknown. */
export const unknownCost = (model: string): StopReason => ({
  code: 'MAX_COST',
  message: `The turn was stopped because \`prices\` has no price for \`${model}\`, so that \`limits.cost\` cannot be checked. Add the price.`,
})

/** The reason when the request cannot be made small enough. */
export const overBudget = (maxTokens: number): StopReason => ({
  code: 'BUDGET',
  message: `The turn was stopped because the smallest possible request exceeds ${maxTokens} tokens. Raise \`budget.maxTokens\`, or send less.`,
})
