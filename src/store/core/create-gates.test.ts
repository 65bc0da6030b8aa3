import { describe, expect, it } from 'vitest'
import { memoryStore } from '../memory/memory-store.ts'
import { encodeGate, openedGate } from '../rows/gate-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { createGates } from './create-gates.ts'

const place = { conversation: 'c', turnId: 't', now: 0 }
const request = {
  id: 'g',
  kind: 'approval',
  from: 'runner',
  toolCallId: 'c1',
  tool: 'pay',
  digest: 'd',
} as const

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

  it.each(['verdict', 'decidedBy', 'args'])(
    'reads own members only: an inherited `%s` decides nothing',
    async (name) => {
      const store = memoryStore()
      const { epoch } = await store.acquire('c', { owner: 'me', leaseMs: 1000 })
      await store.append('c', epoch, [{ kind: 'gate-opened', turnId: 't', data: request }])
      const whole = { verdict: 'edited', decidedBy: 'me', args: { sum: 1 } }
      const { [name as 'args']: inherited, ...own } = whole
      const decision = Object.assign(Object.create({ [name]: inherited }), own) as never
      await expect(store.decideGate('c', 'g', decision)).rejects.toMatchObject({
        code: 'E_INVALID_STORE_INPUT',
      })
      expect((await store.gate('c', 'g'))?.state).toBe('pending')
    },
  )
})
