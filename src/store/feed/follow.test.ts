import { followChecks } from '../../../test/follow-checks.ts'
import { memoryStore } from '../memory/memory-store.ts'

followChecks({
  name: 'one store object',
  isOneProcess: true,
  async open() {
    const store = memoryStore()
    return [store, store]
  },
})

followChecks({
  name: 'a store that can only be polled',
  isPolled: true,
  async open() {
    const { feed: _, ...store } = memoryStore()
    return [store, { ...store }]
  },
})
