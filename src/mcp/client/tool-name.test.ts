import { describe, expect, it } from 'vitest'
import { projectedName } from './tool-name.ts'

describe('projectedName', () => {
  it('keeps a name of 64 characters, and shortens one of 65', () => {
    expect(projectedName('p_', 'n'.repeat(62))).toBe(`p_${'n'.repeat(62)}`)
    expect(projectedName('p_', 'n'.repeat(63))).toMatch(/^p_n{53}_[0-9a-f]{8}$/)
  })

  it('gives different names to what would look the same', () => {
    const long = 'n'.repeat(64)
    const names = ['a.b', 'a/b', 'a b', `${long}x`, `${long}y`].map((name) =>
      projectedName('', name),
    )
    expect(new Set(names).size).toBe(5)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  it('gives the same name each time', () => {
    expect(projectedName('', 'a.b')).toBe(projectedName('', 'a.b'))
  })
})
