import { describe, expect, it } from 'vitest'
import { atMost } from './at-most.ts'

describe('atMost', () => {
  it('runs that many at a time, in order, whether they fail or not', async () => {
    const limited = atMost(2)
    const log: string[] = []
    let running = 0
    const task = async (n: number) => {
      log.push(`${n} of ${++running}`)
      await new Promise((resolve) => setTimeout(resolve, 1))
      running--
      if (n === 1) throw new Error('failed')
      return n
    }
    const all = await Promise.allSettled([0, 1, 2, 3, 4].map((n) => limited(() => task(n))))
    expect(all.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual([
      0,
      'failed',
      2,
      3,
      4,
    ])
    expect(log).toEqual(['0 of 1', '1 of 2', '2 of 2', '3 of 2', '4 of 2'])
  })
})
