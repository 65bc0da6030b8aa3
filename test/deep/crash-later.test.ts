import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LaterLab, laterLab } from '../crash/later-case.ts'

let lab: LaterLab
beforeAll(async () => {
  lab = await laterLab()
}, 60_000)
afterAll(() => lab.close())

const MOST_POINTS = 60

describe('background calls and undo', () => {
  it.each(['run', 'undo'] as const)(
    'keep every promise wherever the process of %s is killed',
    { timeout: 600_000 },
    async (act) => {
      const broken: Record<string, readonly string[]> = {}
      const deaths: string[] = []
      for (let killAt = 1; killAt <= MOST_POINTS; killAt++) {
        const { died, problems } = await lab.play(act, killAt)
        if (problems.length > 0) broken[`${killAt} ${died}`] = problems
        if (died === undefined) break
        deaths.push(died)
      }
      expect(broken).toEqual({})
      expect(deaths.length).toBeGreaterThan(act === 'run' ? 15 : 8)
      expect(deaths.some((death) => death.startsWith('after '))).toBe(true)
    },
  )
})
