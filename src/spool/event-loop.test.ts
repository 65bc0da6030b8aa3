import { describe, expect, it } from 'vitest'
import { nextTurn, pacer } from './event-loop.ts'

/** Counts the turns of the event loop while `act` runs. */
async function countingTurns(act: (turn: () => number) => Promise<unknown>): Promise<void> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  try {
    await act(() => turns)
  } finally {
    isOver = true
  }
}

describe('nextTurn', () => {
  it('lets one piece of work go on in each turn, however many wait', async () => {
    const wentOn: number[] = []
    await countingTurns((turn) => {
      const work = async () => {
        await nextTurn()
        wentOn.push(turn())
      }
      return Promise.all(Array.from({ length: 20 }, work))
    })
    expect(wentOn).toHaveLength(20)
    expect(new Set(wentOn).size).toBe(20)
  })

  it('serves those who wait in the order in which they came', async () => {
    const order: number[] = []
    const work = async (name: number) => {
      for (let round = 0; round < 3; round++) {
        await nextTurn()
        order.push(name)
      }
    }
    await Promise.all([work(1), work(2), work(3)])
    expect(order).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3])
  })
})

describe('pacer', () => {
  it('waits only when a slice is used up', async () => {
    let now = 0
    const pace = pacer(() => now)
    now = 7
    expect(pace()).toBeUndefined()
    now = 8
    await expect(pace()).resolves.toBeUndefined()
    expect(pace()).toBeUndefined()
  })
})
