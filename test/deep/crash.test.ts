import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolCall } from '../../src/records/tool-call.ts'
import { type CrashCase, type CrashLab, crashLab } from '../crash/crash-case.ts'
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

/** The points that each process of the undisturbed run passes. */
const pointsOf = (played: CrashCase): readonly (readonly string[])[] =>
  played.lives.map(
    ({ lines }) => (lines.find(({ event }) => event === 'points')?.['passed'] ?? []) as string[],
  )

interface Plan {
  readonly name: string
  readonly killAt: readonly number[]
}

/** Plays cases, two at a time, and gives what each broke, by name. */
async function broken(plans: readonly Plan[]): Promise<Record<string, readonly string[]>> {
  const problems: Record<string, readonly string[]> = {}
  const waiting = plans.entries()
  const worker = async () => {
    for (const [index, { name, killAt }] of waiting) {
      const played = await lab.play(`${index}-${killAt.join('-')}`, killAt)
      const found = await judgeCase(played, expected)
      if (found.length > 0) problems[`${killAt.join()}: ${name}`] = found
    }
  }
  await Promise.all([worker(), worker()])
  return problems
}

// Some four hundred processes: minutes on a free machine, an hour on a busy one.
describe('a turn of twenty calls, killed', { timeout: 3_600_000 }, () => {
  it('keeps every promise when nobody kills it', async () => {
    expect(await judgeCase(undisturbed, expected)).toEqual([])
    expect(undisturbed.lives.map(({ act, end }) => [act, end])).toEqual([
      ['run', 0],
      ['resume', 0],
    ])
  })

  it('keeps every promise wherever one of its processes dies', async () => {
    const plans = pointsOf(undisturbed).flatMap((points, life) =>
      points.map((name, at) => ({ name, killAt: [...Array<number>(life).fill(0), at + 1] })),
    )
    expect(plans.length).toBeGreaterThan(120)
    expect(await broken(plans)).toEqual({})
  })

  it('keeps every promise when recovery dies too, and the recovery of the recovery', async () => {
    const plans = [5, 22, 33, 45, 58].flatMap((first) =>
      Array.from({ length: 12 }, (_, index) => ({
        name: 'recovery',
        killAt: [first, index + 1, ((index * 5) % 12) + 1],
      })),
    )
    expect(await broken(plans)).toEqual({})
  })
})
