import { describe, expect, it } from 'vitest'
import { flatten } from './flatten.ts'

async function* batches(...all: readonly (readonly number[] | Error)[]) {
  for (const batch of all) {
    await Promise.resolve()
    if (batch instanceof Error) throw batch
    yield batch
  }
}

describe('flatten', () => {
  it('gives the members of all batches in order', async () => {
    const found: number[] = []
    for await (const value of flatten(batches([1, 2], [], [3]))) found.push(value)
    expect(found).toEqual([1, 2, 3])
  })

  it('gives what came before an error, then the error', async () => {
    const values = flatten(batches([1], new Error('cut')))
    expect(await values.next()).toEqual({ done: false, value: 1 })
    await expect(values.next()).rejects.toThrow('cut')
    expect(await values.next()).toEqual({ done: true, value: undefined })
  })

  it('answers calls that overlap in their order', async () => {
    const values = flatten(batches([1], [2, 3], []))
    const results = await Promise.all(Array.from({ length: 4 }, () => values.next()))
    expect(results.map(({ value }) => value)).toEqual([1, 2, 3, undefined])
  })

  it('closes the source when the reader stops', async () => {
    let isClosed = false
    async function* source() {
      try {
        yield [1, 2, 3]
      } finally {
        isClosed = true
      }
    }
    for await (const _ of flatten(source())) break
    expect(isClosed).toBe(true)
  })
})
