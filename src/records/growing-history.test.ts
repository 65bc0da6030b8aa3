import { describe, expect, it } from 'vitest'
import { editionOf, growingHistory, replaceItem, snapshotOf, sourceOf } from './growing-history.ts'
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

describe('snapshotOf', () => {
  it('stays as it was, of the edition that it was taken of', () => {
    const items = growingHistory([thought('one')])
    const snapshot = snapshotOf(items)
    expect(editionOf(snapshot)).toBe(editionOf(items))
    items.push(thought('two'))
    replaceItem(items, 0, thought('other'))
    expect(snapshot).toEqual([thought('one')])
    expect(editionOf(snapshot)).not.toBe(editionOf(items))
    expect(() => (snapshot as HistoryItem[]).push(thought('three'))).toThrow(TypeError)
    expect(sourceOf(snapshot)).toBe(items)
  })

  it('has no source where nobody can know how the array changes', () => {
    const items = [thought('one')]
    const snapshot = snapshotOf(items)
    expect([sourceOf(snapshot), sourceOf(items)]).toEqual([snapshot, items])
    expect(sourceOf(snapshot)).toBe(snapshot)
    expect(editionOf(snapshot)).toBeUndefined()
  })
})
