import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CrashLab, crashLab, pointsOf } from '../crash/crash-case.ts'
import { judgeCase } from '../crash/judge-case.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'

let server: EmbeddedServer
let lab: CrashLab
beforeAll(async () => {
  server = await embeddedServer()
  lab = await crashLab(server.url)
})
afterAll(async () => {
  await lab.close()
  await server.remove()
})

/** A prime: the points that are tried fall on every kind of step. */
const STEP = 7

// What is durable is decided by the same code as on SQLite, where every point is tried.
describe('a turn of twenty calls on PostgreSQL, killed', { timeout: 3_600_000 }, () => {
  it('keeps every promise at a sample of points, and when its recovery dies too', async () => {
    const undisturbed = await lab.play('undisturbed', [])
    const expected = undisturbed.lives.at(-1)?.remains.calls ?? []
    expect(await judgeCase(undisturbed, expected)).toEqual([])
    const plans = undisturbed.lives.flatMap((life, index) =>
      pointsOf(life).flatMap((_, at) => {
        const first = [...Array<number>(index).fill(0), at + 1]
        return at % STEP === 3 ? [[...first, 1 + (at % 11)]] : []
      }),
    )
    expect(plans.length).toBeGreaterThan(15)
    const problems: Record<string, readonly string[]> = {}
    let deaths = 0
    for (const killAt of plans) {
      const played = await lab.play(killAt.join('-'), killAt)
      deaths += played.lives.filter(({ end }) => end === 'SIGKILL').length
      const found = await judgeCase(played, expected)
      if (found.length > 0) problems[killAt.join()] = found
    }
    expect(problems).toEqual({})
    expect(deaths).toBeGreaterThan(plans.length)
  })
})
