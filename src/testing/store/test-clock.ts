import type { Clock } from '../../core/clock.ts'

/** A clock that only moves when told to. */
export interface TestClock extends Clock {
  advance(ms: number): void
}

export function testClock(start = Date.UTC(2026, 0, 2)): TestClock {
  let now = start
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
