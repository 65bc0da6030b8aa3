import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSubject } from '../../scripts/bench-subject.mjs'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'

/**
 * What a call costs beside a loop written by hand, as `npm run bench -- turn` measures it. The targets are 5 times
 * the loop and 1.2 times the hundredth step; the bounds leave room for a machine that is busy, none for a
 * turn that clones or re-encodes its history with every step.
 */
const MOST_TIMES_THE_LOOP = 7.5
const MOST_GROWTH = 1.5
const MOST_BYTES = 3_072

type Subject = Awaited<ReturnType<typeof startSubject>>

const ROUNDS = 9
const SHAPES = [
  ['1 × 100', { calls: 1, steps: 100 }],
  ['10 × 10', { calls: 10, steps: 10 }],
  ['1 × 1,000', { calls: 1, steps: 1_000 }],
] as const

describe('the cost of a call', () => {
  let limit: Subject
  let bobbin: Subject

  beforeAll(async () => {
    // The subject runs what was built: an older build would be measured instead of the source.
    const { code, output } = await ensureBuilt()
    if (code !== 0) throw new Error(output)
    limit = await startSubject('limit')
    bobbin = await startSubject('bobbin')
  })

  afterAll(() => {
    limit?.stop()
    bobbin?.stop()
  })

  it.each(SHAPES)('stays near that of a loop written by hand, %s', async (_, shape) => {
    const sample = (subject: Subject, slice: number): Promise<number> =>
      subject.ask('sample', { ...shape, slice })
    for (const subject of [limit, bobbin]) await sample(subject, 3_000_000)
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const least = await sample(limit, 100_000)
      ratios.push((await sample(bobbin, 100_000)) / least)
    }
    const median = ratios.toSorted((a, b) => a - b)[ROUNDS >> 1]
    expect(median).toBeLessThan(MOST_TIMES_THE_LOOP)
  })

  it('is the same for the thousandth step of a turn as for the hundredth', async () => {
    const { early, late } = await bobbin.ask('growth', { turns: 120 })
    expect(late / early).toBeLessThan(MOST_GROWTH)
  })

  it('is not waited for when its subject has died, which says why', async () => {
    await expect(startSubject('no-such-kit')).rejects.toThrow(
      /`no-such-kit` ended with 1.*no-such-kit\.mjs/s,
    )
    const subject = await startSubject('limit')
    const unknown = /`limit` ended with 1.*not a function/s
    await expect(subject.ask('no such task')).rejects.toThrow(unknown)
    await expect(subject.ask('sample')).rejects.toThrow(unknown)
  })

  it('is at most 3 KB of memory, arguments and result apart', async () => {
    expect(await bobbin.ask('retained')).toBeLessThan(MOST_BYTES)
  })
})
