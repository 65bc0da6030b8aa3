import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LaterLab, laterLab } from './crash/later-case.ts'

let lab: LaterLab
beforeAll(async () => {
  lab = await laterLab()
}, 60_000)
afterAll(() => lab.close())

// A sample; `test/deep/crash-later.test.ts` goes through every point.
describe('background calls and undo, killed', () => {
  it.each([
    ['run', 0],
    ['run', 11],
    ['run', 14],
    ['undo', 6],
  ] as const)('keep every promise: %s at point %i', { timeout: 60_000 }, async (act, killAt) => {
    expect((await lab.play(act, killAt)).problems).toEqual([])
  })
})
