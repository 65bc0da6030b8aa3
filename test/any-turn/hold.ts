import fc from 'fast-check'
import { expect } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { type TestClock, testClock } from '../../src/testing/store/test-clock.ts'
import { play } from './play.ts'
import type { Program } from './program.ts'

/** The same programs in each run of the checks, so that a red one is news; to hunt, give others and more of them. */
const SEED = Number(process.env['ANY_TURN_SEED'] ?? 1)
const TIMES = Number(process.env['ANY_TURN_TIMES'] ?? 1)

let runs = 0

/**
 * Plays so many programs, each under names of its own on a store that goes by the program's clock. A failure
 * tells the seed and the smallest program that fails.
 */
export async function holdFor(
  programs: fc.Arbitrary<Program>,
  numRuns: number,
  makeStore: (clock: Clock) => Store,
): Promise<void> {
  let clock: TestClock = testClock()
  const store = makeStore({ now: () => clock.now() })
  try {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        clock = testClock()
        expect(await play(program, { store, clock, prefix: `c${runs++}-` })).toEqual([])
      }),
      { numRuns: numRuns * TIMES, seed: SEED },
    )
  } finally {
    await store.close()
  }
}
