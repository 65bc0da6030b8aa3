import { unwaited } from './thenable.ts'

/** Where the present comes from; tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/** The system's own time. */
export const systemClock: Clock = { now: () => Date.now() }

/** A clock that always tells a time: where the given one throws or gives none, the system's stands in for it. */
export function sureClock(clock: Clock): Clock {
  if (clock === systemClock) return clock
  return {
    now() {
      try {
        const time: unknown = unwaited(clock.now())
        if (typeof time === 'number' && Math.abs(time) <= MAX_TIME_MS) return time
      } catch {}
      return Date.now()
    },
  }
}

/** No date lies further from the epoch. */
const MAX_TIME_MS = 8.64e15
