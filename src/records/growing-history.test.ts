import { describe, expect, it } from 'vitest'
import { editionOf, growingHistory, replaceItem } from './growing-history.ts'
import type { HistoryItem } from './history-item.ts'

const thought = (text: string): HistoryItem => ({ type: 'thought', text })

describe('growingHistory', () => {
  it('is the same edition for as long as it only grows', () => {
    const items = growingHistory()
    const edition = editionOf(items)
    items.push(thought('one'))
    expect(editionOf(items)).toBe(edition)
    replaceItem(items, 0, thought('other'))
    expect(items).toEqual([thought('other')])
    expect(editionOf(items)).not.toBe(edition)
  })

  it('says nothing of arrays that anybody may change', () => {
    const items = [thought('one')]
    replaceItem(items, 0, thought('other'))
    expect(items).toEqual([thought('other')])
    expect(editionOf(items)).toBeUndefined()
  })
})
