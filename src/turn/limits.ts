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
    return stop('MAX_ITERATIONS', `the model was asked ${limits.maxIterations} times`)
  }
  const elapsed = clock.now() - startedAt
  if (elapsed > limits.maxTimeMs) return stop('MAX_TIME', `it took ${elapsed} ms`)
  return undefined
}

const stop = (code: StopReason['code'], what: string): StopReason => ({
  code,
  message: `The turn was stopped because ${what}. Raise the limit, or ask for less at once.`,
})
