import { describe, it } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { judgeLife } from './compaction/judge-life.ts'
import { isThorough } from './runs.ts'
import { APIS } from './wire/provider-samples.ts'

// Claude is the one that binds thinking to what stands before it.
const CHOSEN = isThorough ? APIS : ['anthropic-messages']

describe.each(CHOSEN)('a long conversation with summaries over %s', (api) => {
  it('sends nothing that is refused, loses no fact, and can be proven', {
    timeout: 120_000,
  }, async () => {
    const store = memoryStore()
    await judgeLife(api, isThorough ? 120 : 25, () => store, 9)
  })
})
