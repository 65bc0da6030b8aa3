import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSubject } from '../../scripts/bench-subject.mjs'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'

/**
 * What a call costs beside a loop written by hand, as `npm run bench -- turn` measures it. The target is 10 times the
 * loop; the code stands at about 40, so these bounds only catch a turn that clones or re-encodes its history
 * with every step. Lower them with the cost.
 */
const MOST_TIMES_THE_LOOP = 100
const MOST_GROWTH = 1.5
const MOST_BYTES = 8_192

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
    // Every shape before one is timed: the compilers are still at work on the first.
    for (const [, shape] of SHAPES) {
      for (const subject of [limit, bobbin]) {
        await subject.ask('sample', { ...shape, slice: 3_000_000 })
      }
    }
  })

  afterAll(() => {
    limit?.stop()
    bobbin?.stop()
  })

  it.each(SHAPES)('stays near that of a loop written by hand, %s', async (_, shape) => {
    const sample = (subject: Subject, slice: number): Promise<number> =>
      subject.ask('sample', { ...shape, slice })
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

  it('is at most 8 KB of memory, arguments and result apart', async () => {
    expect(await bobbin.ask('retained')).toBeLessThan(MOST_BYTES)
  })
})
