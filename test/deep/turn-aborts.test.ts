import { describe, expect, it } from 'vitest'
import { abortFaults } from '../turn-abort-proof.ts'

describe('an abort', () => {
  it('at every await point starts nothing afterwards, settles what started and leaves a sound log', async () => {
    const statuses: string[] = []
    for (const hasLayers of [true, false]) {
      for (let at = 0; at < 4_000; at++) {
        const { faults, status, wasOver } = await abortFaults(at, true, hasLayers)
        expect(faults).toEqual([])
        statuses.push(status)
        if (wasOver) break
      }
      expect(statuses.at(-1)).toBe('completed')
    }
    expect(statuses.filter((status) => status === 'aborted').length).toBeGreaterThan(400)
  }, 300_000)
})
