import { describe, expect, it } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import { dyingAt, lastTurn, prepare, recovered } from './compaction/dying.ts'
import { STEP } from './runs.ts'

async function summariesIn(store: Store): Promise<number> {
  let count = 0
  for await (const { kind } of store.entries('c')) if (kind === 'summary') count++
  return count
}

/** Plays a turn whose process dies at one of its points. */
async function dead(at: number) {
  const store = memoryStore()
  const problems: string[] = []
  await prepare(store, problems)
  const before = await summariesIn(store)
  const { mortal, died, pass, passed } = dyingAt(store, at)
  const end = lastTurn({ store: mortal, pass, problems })
  await Promise.race([died, end])
  return { store, problems, before, passed }
}

describe('a process that dies while it compacts', () => {
  it('leaves the old history or the new one, at every step', async () => {
    const { passed } = await dead(Number.POSITIVE_INFINITY)
    const points = passed.filter((point) => point === 'after append summary')
    expect(points.length).toBeGreaterThan(2)
    const found: Record<string, unknown> = {}
    // Nothing but a summary is special here: a sample of the other points is enough.
    const isTried = (at: number) =>
      [at - 2, at - 1, at].some((place) => passed[place]?.includes('summary'))
    for (let at = 1; at <= passed.length; at++) {
      if (!isTried(at) && at % STEP !== 1 % STEP) continue
      const { store, problems, before } = await dead(at)
      const stored = passed.slice(0, at).filter((point) => point === 'after append summary').length
      expect([at, (await summariesIn(store)) - before]).toEqual([at, stored])
      const wrong = await recovered(store, problems)
      if (wrong.length > 0) found[`${at} ${passed[at - 1]}`] = wrong
    }
    expect(found).toEqual({})
  })
})
