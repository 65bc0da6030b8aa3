import { describe, expect, it } from 'vitest'
import { createGates } from './create-gates.ts'
import { encodeGate, openedGate } from './gate-row.ts'
import type { StoreDriver } from './store-driver.ts'

const place = { conversation: 'c', turnId: 't', now: 0 }
const request = { id: 'g', type: 'approval', callId: 'c1', tool: 'pay', digest: 'd' } as const

describe('decideGate', () => {
  it('does not say that a gate is missing which a database never lets it replace', async () => {
    let reads = 0
    const row = encodeGate(openedGate(request, place))
    const driver = {
      gate: async () => (reads++, row),
      replaceGate: async () => false,
    } as Partial<StoreDriver> as StoreDriver
    const { decideGate } = createGates(driver, { now: () => 1 })
    const decided = decideGate('c', 'g', { verdict: 'approved', decidedBy: 'me' })
    await expect(decided).rejects.toMatchObject({
      code: 'E_GATE_STATE',
      data: { gate: 'g', state: 'pending', wanted: 'approved' },
    })
    expect(reads).toBe(5)
  })
})
