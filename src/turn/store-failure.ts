import { BobbinError, isBobbinError } from '../core/error.ts'
import { thrownText } from '../core/thrown-text.ts'

/** What a store failed with; one of the application's own speaks in words of its own, and may throw anything. */
export function storeFailure(thrown: unknown): BobbinError {
  if (isBobbinError(thrown)) return thrown
  const detail = thrownText(thrown)
  return new BobbinError(
    'E_STORE_UNAVAILABLE',
    detail,
    { reason: 'other', detail },
    { cause: thrown },
  )
}

/** Asks a store, or a spool, and gives what it fails with as its failure. */
export async function ofStore<T>(ask: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw storeFailure(error)
  }
}
