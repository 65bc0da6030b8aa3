import type { Store } from '../../src/store/store.ts'
import type { TestClock } from '../../src/testing/store/test-clock.ts'
import type { Ledger } from './ledger.ts'
import type { Program } from './program.ts'

/** What all processes of a case share. */
export interface World {
  readonly program: Program
  readonly store: Store
  readonly clock: TestClock
  readonly ledger: Ledger
  readonly ids: () => string
  /** How far the script of each inner conversation is. */
  readonly positions: Map<string, number>
  /** Conversations whose last process died, or could not give them free. */
  readonly isLeftHeld: Set<string>
  /** Conversations that somebody found free. */
  readonly wasFree: Set<string>
  /** Outer conversations in which a process died, or a store failed. */
  readonly troubled: Set<string>
  /** Counts up when the definitions of tools change. */
  edition: number
}

/** From which keys derive, where the application has one. */
export const SECRET = new Uint8Array(32).fill(9)
