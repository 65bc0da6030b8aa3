import { describe, it } from 'vitest'
import { storeConformance } from '../../testing/store/store-conformance.ts'
import { memoryStore } from './memory-store.ts'

describe('memoryStore', () => {
  for (const { name, run } of storeConformance((options) => ({ store: memoryStore(options) }))) {
    it(name, run)
  }
})
