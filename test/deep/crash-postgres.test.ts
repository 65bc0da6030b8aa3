import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CrashLab, crashLab } from '../crash/crash-case.ts'
import { explore } from '../crash/explore.ts'
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

describe('a turn of twenty calls on PostgreSQL, killed', { timeout: 3_600_000 }, () => {
  // What a recovery decides is the same code as on SQLite, where every one of its deaths is tried.
  it('keeps every promise wherever it dies, and at a sample of points where its recovery dies', async () => {
    const undisturbed = await lab.play('undisturbed', [])
    const expected = undisturbed.lives.at(-1)?.remains.calls ?? []
    expect(await judgeCase(undisturbed, expected)).toEqual([])
    const { cases, problems } = await explore(lab, expected, { everyNthRecovery: 7 })
    expect(problems).toEqual({})
    const [, once = 0, twice = 0] = cases
    expect([once > 60, twice > 5]).toEqual([true, true])
  })
})
