import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdLedger, randomId } from './ids.ts'
import { lowerTrust, TRUST_TIERS } from './trust.ts'

describe('IdLedger', () => {
  it('keeps the first occurrence and numbers the later ones', () => {
    const ids = new IdLedger()
    expect(['call_0', 'call_0', 'x', 'call_0'].map((id) => ids.claim(id))).toEqual([
      'call_0',
      'call_0~2',
      'x',
      'call_0~3',
    ])
  })

  it('skips what is taken, also by ids that look like its own', () => {
    const ids = new IdLedger(['a', 'a~2'])
    expect(ids.claim('a')).toBe('a~3')
    expect(ids.claim('a~2')).toBe('a~2~2')
    expect(ids.has('a~3')).toBe(true)
    expect(ids.has('b')).toBe(false)
  })

  it('never gives the same id twice', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'a~2', 'a~2~2', '', 'b')), (wanted) => {
        const ids = new IdLedger()
        const given = wanted.map((id) => ids.claim(id))
        expect(new Set(given).size).toBe(given.length)
      }),
    )
  })

  it('stays linear when one id comes a hundred thousand times', () => {
    const ids = new IdLedger()
    let last = ''
    for (let i = 0; i < 100_000; i++) last = ids.claim('call_0')
    expect(last).toBe('call_0~100000')
  })
})

describe('randomId', () => {
  it('gives unguessable ids', () => {
    const ids = new Set(Array.from({ length: 1_000 }, randomId))
    expect(ids.size).toBe(1_000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('lowerTrust', () => {
  it('gives the less trusted of two tiers', () => {
    expect(lowerTrust('developer', 'third-party')).toBe('third-party')
    expect(lowerTrust('first-party', 'developer')).toBe('first-party')
    for (const tier of TRUST_TIERS) expect(lowerTrust(tier, tier)).toBe(tier)
  })
})
