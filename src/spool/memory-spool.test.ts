import { describe, expect, it } from 'vitest'
import { spoolConformance } from '../testing/spool-conformance.ts'
import { memorySpool } from './memory-spool.ts'

describe('memorySpool', () => {
  for (const { name, run } of spoolConformance((options) => memorySpool(options))) it(name, run)

  it('says that it is not durable', () => {
    expect(memorySpool().durable).toBe(false)
  })

  it('lets the event loop turn while it takes a large string', async () => {
    const store = memorySpool()
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await store.write('0123456789\n'.repeat(6_000_000))
    clearInterval(timer)
    expect(turns).toBeGreaterThan(5)
  })
})
