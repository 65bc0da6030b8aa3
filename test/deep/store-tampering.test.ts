import { describe, expect, it } from 'vitest'
import { tamperedStore } from '../sqlite/tampered-store.ts'

describe('verify', () => {
  it('finds every single-byte edit of everything that is stored', async () => {
    const tampered = await tamperedStore()
    const { edits, missed } = await tampered.missedEdits(1)
    expect(missed).toEqual([])
    expect(edits).toBeGreaterThan(4000)
    await tampered.remove()
  })
})
