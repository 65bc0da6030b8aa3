import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cpuTime } from '../../../test/cpu-time.ts'
import { slowness } from '../../../test/yardstick.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { sqliteStore } from './sqlite-store.ts'

const definition = 'f'.repeat(64)

it('lists a page of 1,000 open gates, and finds one of 10,000 grants, in a few milliseconds', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-many-'))
  const store = sqliteStore(join(folder, 'agent.db'))
  try {
    const { epoch } = await store.acquire('c', { owner: 'test', leaseMs: 1e9 })
    const open = (prefix: string, from: number, count: number) =>
      store.append(
        'c',
        epoch,
        Array.from({ length: count }, (_, i) =>
          sample.gateOpened('t', `${prefix}${from + i}`, {
            args: { to: `person ${from + i}` },
            context: { definition },
          }),
        ),
      )
    await open('open ', 0, 1000)
    const listing = await least(async () => {
      expect(await store.openGates()).toHaveLength(1000)
    })
    expect(listing).toBeLessThan(20)

    const grant = { for: 'subject', subject: 'uma' } as const
    const approved = { verdict: 'approved', decidedBy: 'ada', grant } as const
    for (let from = 0; from < 10_000; from += 1000) {
      await open('granted ', from, 1000)
      const ids = Array.from({ length: 1000 }, (_, i) => `granted ${from + i}`)
      await Promise.all(ids.map((id) => store.decideGate('c', id, approved)))
    }
    const call = { tool: 'add', definition, tainted: false, conversations: ['d'], subject: 'uma' }
    const finding = await least(async () => {
      const found = await store.grantFor({ ...call, args: { to: 'person 9999' } })
      expect(found?.args).toEqual({ to: 'person 9999' })
    })
    expect(finding).toBeLessThan(5)
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}, 60_000)

/** The least CPU time of some tries, in milliseconds of the usual machine. */
async function least(work: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 15; tries++) {
    const start = cpuTime()
    await work()
    best = Math.min(best, cpuTime() - start)
  }
  return best / slowness()
}
