import { describe, expect, it } from 'vitest'
import { type JoinRule, joinNeighbours } from './join-neighbours.ts'

/** A capital letter stands alone, a small one joins small ones, a digit joins everything but capitals. */
const letters: JoinRule<string> = {
  joins: (entry, earlier) =>
    /^[a-z]/.test(entry) ? /^[a-z]/.test(earlier) : /^\d/.test(entry) && /^[a-z-]/.test(earlier),
  merge: (entries) => entries.join(''),
}

describe('joinNeighbours', () => {
  it('joins neighbours that belong together', () => {
    const entries = ['a', 'b', 'X', 'c', 'Y', 'd', 'e']
    expect(joinNeighbours(entries, letters)).toEqual(['ab', 'X', 'c', 'Y', 'de'])
  })

  it('lets one entry join several runs that stood apart', () => {
    expect(joinNeighbours(['X', '-', 'a', 'b', '1', 'Y'], letters)).toEqual(['X', '-ab1', 'Y'])
  })

  it('keeps an entry that joins nothing as the object it is', () => {
    const entry = { text: 'a' }
    const never: JoinRule<object> = { joins: () => false, merge: () => ({}) }
    expect(joinNeighbours([entry], never)[0]).toBe(entry)
  })

  it('merges a thousand neighbours in one call', () => {
    let merged = 0
    const counting: JoinRule<string> = { ...letters, merge: (run) => `${(merged += run.length)}` }
    expect(joinNeighbours(Array(1000).fill('a'), counting)).toEqual(['1000'])
    expect(merged).toBe(1000)
  })
})
