import { describe, expect, it } from 'vitest'
import { damageTo } from '../wire/damage.ts'
import { loadFixtures } from '../wire/fixture.ts'

describe('a payload with any one member replaced by junk', () => {
  it.each(loadFixtures())('%s is told as items that may be sent, or refused', (_, fixture) => {
    expect(damageTo(fixture)).toEqual([])
  })
})
