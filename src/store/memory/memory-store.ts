import { requireOptions } from '../../core/error/wrong-input.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { createStore, STORE_OPTIONS, type StoreOptions } from '../core/create-store.ts'
import type { Store } from '../store.ts'
import { memoryDriver } from './memory-driver.ts'

/**
 * A store that lives and dies with the process: for tests, and where nothing must be kept. Larger results lie
 * on a spool of its own, where every runner on it finds them.
 */
export function memoryStore(options: StoreOptions = {}): Store {
  requireOptions('memoryStore', options, STORE_OPTIONS)
  const { clock } = options
  const spool = memorySpool(clock && { clock })
  return createStore(memoryDriver(), { ...options, spool })
}
