import { createStore, type StoreOptions } from './create-store.ts'
import { memoryDriver } from './memory-driver.ts'
import type { Store } from './store.ts'

/** A store that lives and dies with the process: for tests, and where nothing must be kept. */
export function memoryStore(options: StoreOptions = {}): Store {
  return createStore(memoryDriver(), options)
}
