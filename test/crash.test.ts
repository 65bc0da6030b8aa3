import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CrashLab, crashLab } from './crash/crash-case.ts'
import { judgeCase } from './crash/judge-case.ts'

let lab: CrashLab
beforeAll(async () => {
  lab = await crashLab()
})
afterAll(() => lab.close())

// A sample; `test/deep/crash.test.ts` goes through every point.
describe('a turn of twenty calls, killed', () => {
  it('keeps every promise at a few points, and when its recovery dies too', {
    timeout: 120_000,
  }, async () => {
    const undisturbed = await lab.play('undisturbed', [])
    const expected = undisturbed.lives.at(-1)?.remains.calls ?? []
    expect(await judgeCase(undisturbed, expected)).toEqual([])
    const endings: string[] = []
    for (const killAt of [[25, 8], [43]]) {
      const played = await lab.play(killAt.join('-'), killAt)
      expect(await judgeCase(played, expected)).toEqual([])
      endings.push(...played.lives.map(({ end }) => String(end)))
    }
    expect(endings.filter((end) => end === 'SIGKILL')).toHaveLength(3)
  })
})
