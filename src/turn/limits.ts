import type { Clock } from '../core/clock.ts'
import type { StopReason } from './outcome.ts'

/** How far a turn may go. */
export interface TurnLimits {
  readonly maxIterations: number
  readonly maxCalls: number
  /** Wall-clock time of the whole turn in milliseconds. */
  readonly maxTimeMs: number
}

export const TURN_LIMITS: TurnLimits = {
  maxIterations: 20,
  maxCalls: 200,
  maxTimeMs: 30 * 60_000,
}

/** Says why a turn must not go round once more, if so. */
export function limitReached(
  limits: TurnLimits,
  iteration: number,
  startedAt: number,
  clock: Clock,
): StopReason | undefined {
  if (iteration > limits.maxIterations) {
    return tooManyIterations(limits.maxIterations)
  }
  return clock.now() - startedAt > limits.maxTimeMs ? tooMuchTime(limits.maxTimeMs) : undefined
}

const tooManyIterations = (maxIterations: number): StopReason => ({
  code: 'MAX_ITERATIONS',
  message: `The turn was stopped because the model was asked ${maxIterations} times. Raise \`maxIterations\`, or ask for less at once.`,
})

/** Why a turn stops that has made all its calls. */
export const tooManyCalls = (maxCalls: number): StopReason => ({
  code: 'MAX_CALLS',
  message: `The turn was stopped because it made ${maxCalls} calls. Raise \`maxCalls\`, or ask for less at once.`,
})

/** Why a turn stops whose time is up. */
export const tooMuchTime = (maxTimeMs: number): StopReason => ({
  code: 'MAX_TIME',
  message: `The turn was stopped because it took longer than ${maxTimeMs} ms. Raise \`maxTimeMs\`, or ask for less at once.`,
})

/** Why a turn stops whose request cannot be made small enough. */
export const overBudget = (maxTokens: number): StopReason => ({
  code: 'BUDGET',
  message: `The turn was stopped because not even what must be sent fits into ${maxTokens} tokens. Raise \`budget.maxTokens\`, or send less.`,
})
