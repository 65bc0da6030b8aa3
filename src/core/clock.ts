/** Where the present comes from; tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/** The system's own time. */
export const systemClock: Clock = { now: () => Date.now() }
