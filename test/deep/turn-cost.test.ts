import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'

/**
 * What a call costs beside a loop written by hand, as `npm run bench -- turn` measures it. The targets are 5 times
 * the loop and 1.2 times the hundredth step; the bounds leave room for a machine that is busy, none for a
 * turn that clones or re-encodes its history with every step.
 */
const MOST_TIMES_THE_LOOP = 7.5
const MOST_GROWTH = 1.5
const MOST_BYTES = 3_072

const SUBJECT = fileURLToPath(new URL('../../bench/peers/subject.mjs', import.meta.url))
const ROUNDS = 9
const SHAPES = [
  ['1 × 100', { calls: 1, steps: 100 }],
  ['10 × 10', { calls: 10, steps: 10 }],
  ['1 × 1,000', { calls: 1, steps: 1_000 }],
] as const

async function start(name: string): Promise<ChildProcess> {
  const execArgv = ['--expose-gc', '--no-memory-reducer']
  const child = fork(SUBJECT, [name], { execArgv })
  await answer(child)
  return child
}

async function answer(child: ChildProcess): Promise<unknown> {
  const answered = new AbortController()
  const { signal } = answered
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`The subject ended with ${code}.`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended])
    return message
  } finally {
    answered.abort()
  }
}

async function ask<T>(child: ChildProcess, task: object): Promise<T> {
  child.send(task)
  return (await answer(child)) as T
}

describe('the cost of a call', () => {
  let limit: ChildProcess
  let bobbin: ChildProcess

  beforeAll(async () => {
    // The subject runs what was built: an older build would be measured instead of the source.
    const { code, output } = await ensureBuilt()
    if (code !== 0) throw new Error(output)
    limit = await start('limit')
    bobbin = await start('bobbin')
  })

  afterAll(() => {
    limit?.kill()
    bobbin?.kill()
  })

  it.each(SHAPES)('stays near that of a loop written by hand, %s', async (_, shape) => {
    const sample = (child: ChildProcess, slice: number) =>
      ask<number>(child, { task: 'sample', ...shape, slice })
    for (const child of [limit, bobbin]) await sample(child, 3_000_000)
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const least = await sample(limit, 100_000)
      ratios.push((await sample(bobbin, 100_000)) / least)
    }
    const median = ratios.toSorted((a, b) => a - b)[ROUNDS >> 1]
    expect(median).toBeLessThan(MOST_TIMES_THE_LOOP)
  })

  it('is the same for the thousandth step of a turn as for the hundredth', async () => {
    type Growth = { readonly early: number; readonly late: number }
    const { early, late } = await ask<Growth>(bobbin, { task: 'growth', turns: 120 })
    expect(late / early).toBeLessThan(MOST_GROWTH)
  })

  it('is at most 3 KB of memory, arguments and result apart', async () => {
    expect(await ask<number>(bobbin, { task: 'retained' })).toBeLessThan(MOST_BYTES)
  })
})
