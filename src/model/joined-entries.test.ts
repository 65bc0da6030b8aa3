import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyChanged, JoinedEntries } from './joined-entries.ts'

/** Joins runs of small letters, and counts how many entries went into joins. */
function letters() {
  const counts = { merged: 0 }
  const joined = new JoinedEntries<string>({
    joins: (entry, earlier) => /^[a-z]/.test(entry) && /^[a-z]/.test(earlier),
    merge: (entries) => {
      counts.merged += entries.length
      return entries.join('')
    },
  })
  return { joined, counts }
}

describe('JoinedEntries', () => {
  it('joins neighbours that belong together', () => {
    const { joined } = letters()
    joined.update(['a', 'b', 'X', 'c', 'Y', 'd', 'e'], 7)
    expect(joined.list).toEqual(['ab', 'X', 'c', 'Y', 'de'])
  })

  it('joins what comes later with what stands already, and says where the list changed', () => {
    const { joined } = letters()
    expect(joined.update(['X', 'a'], 2)).toBe(0)
    expect(joined.update(['X', 'a', 'b', 'Y'], 4)).toBe(1)
    expect(joined.list).toEqual(['X', 'ab', 'Y'])
    expect(joined.update(['X', 'a', 'b', 'Y', 'Z'], 5)).toBe(3)
  })

  it('makes anew what was not final', () => {
    const { joined } = letters()
    joined.update(['X', 'a', 'b'], 2)
    joined.update(['X', 'a', 'Y', 'Z'], 4)
    expect(joined.list).toEqual(['X', 'a', 'Y', 'Z'])
    joined.update(['X', 'a', 'Y', 'Z'], 4)
    expect(joined.list).toEqual(['X', 'a', 'Y', 'Z'])
  })

  it('joins a thousand neighbours in one go', () => {
    const { joined, counts } = letters()
    const many = Array.from({ length: 1000 }, () => 'a')
    joined.update(many, 1000)
    expect(joined.list).toEqual(['a'.repeat(1000)])
    expect(counts.merged).toBe(1000)
  })

  it('gives after every step what it gives at once', () => {
    const entries = fc.array(fc.constantFrom('a', 'b', 'X', 'Y'), { maxLength: 3 })
    // Each step closes some entries and ends with others that the next step replaces.
    const steps = fc.array(fc.record({ closed: entries, open: entries }), { maxLength: 8 })
    fc.assert(
      fc.property(steps, (all) => {
        const { joined } = letters()
        const closed: string[] = []
        const copy: string[] = []
        for (const step of all) {
          closed.push(...step.closed)
          const now = [...closed, ...step.open]
          copyChanged(copy, joined.list, joined.update(now, closed.length))
          const { joined: fresh } = letters()
          fresh.update(now, now.length)
          expect(joined.list).toEqual(fresh.list)
          expect(copy).toEqual(fresh.list)
        }
      }),
    )
  })
})
