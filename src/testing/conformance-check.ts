import { wrongInput } from '../core/error/wrong-input.ts'

/** One fact that an implementation must satisfy: hand `name` and `run` to any test framework. */
export interface ConformanceCheck {
  readonly name: string
  /** Rejects with an assertion error when the implementation does not conform. */
  readonly run: () => Promise<void>
}

/** A suite without a store to open fails in every check, at a line of its own. */
export function requireOpener(suite: string, open: unknown): void {
  if (typeof open === 'function') return
  throw wrongInput(suite, 'open', 'must be a function that opens an empty store for one check')
}
