import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolCall } from '../../src/records/tool-call.ts'
import { type CrashCase, type CrashLab, crashLab } from '../crash/crash-case.ts'
import { explore } from '../crash/explore.ts'
import { judgeCase } from '../crash/judge-case.ts'

let lab: CrashLab
let undisturbed: CrashCase
let expected: readonly ToolCall[]

beforeAll(async () => {
  lab = await crashLab()
  undisturbed = await lab.play('undisturbed', [])
  expected = undisturbed.lives.at(-1)?.remains.calls ?? []
})
afterAll(() => lab.close())

// Some six hundred processes: minutes on a free machine, an hour on a busy one.
describe('a turn of twenty calls, killed', { timeout: 3_600_000 }, () => {
  it('keeps every promise when nobody kills it', async () => {
    expect(await judgeCase(undisturbed, expected)).toEqual([])
    expect(undisturbed.lives.map(({ act, end }) => [act, end])).toEqual([
      ['run', 0],
      ['resume', 0],
    ])
  })

  it('keeps every promise wherever it dies, its recovery dies, and the recovery of its recovery', async () => {
    const { cases, problems } = await explore(lab, expected)
    expect(problems).toEqual({})
    const [, once = 0, twice = 0, thrice = 0] = cases
    expect([once > 60, twice > 70, thrice > 15]).toEqual([true, true, true])
  })
})
