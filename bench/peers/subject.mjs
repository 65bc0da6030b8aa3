// One kit in a process of its own: runs what its parent asks for and tells the CPU time it took.
import { scenario } from './scenario.mjs'

const { loop } = await import(`./${process.argv[2]}.mjs`)

/** CPU microseconds per call, over as many runs as fill the slice. */
async function sample({ steps, calls, slice }) {
  // No collection is forced: it throws away compiled code, and a sample would measure the compiler.
  let runs = 0
  const before = process.cpuUsage()
  for (;;) {
    await run(scenario(steps, calls))
    runs++
    const { user, system } = process.cpuUsage(before)
    if (user + system >= slice) return (user + system) / (runs * steps * calls)
  }
}

/** How many turns have shown how a step grows. */
let shown = 0

/**
 * CPU microseconds of the steps around the hundredth and around the thousandth of a turn. A collection takes as
 * long as a hundred steps and comes about once in a turn, so that it would fall at the same step of every
 * turn: a shorter one in between, each time of another length, spreads them evenly over all steps.
 */
async function growth({ turns }) {
  let [early, late] = [0, 0]
  for (let turn = 0; turn < turns; turn++) {
    const share = (shown++ * GOLDEN) % 1
    await run(scenario(1 + Math.floor(share * 2_400), 1))
    const marks = []
    const one = scenario(1_050, 1)
    const next = () => {
      const { user, system } = process.cpuUsage()
      marks.push(user + system)
      return one.next()
    }
    await run({ ...one, next })
    early += marks[150] - marks[50]
    late += marks[1_050] - marks[950]
  }
  return { early, late }
}

/** Its multiples, taken modulo one, lie as evenly as can be however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2

/**
 * Bytes per call that stay in memory with the turn's runner and outcome, arguments and result apart. Over
 * several turns: compiled code comes and goes by the megabyte.
 */
async function retained() {
  const [steps, turns, kept] = [1_000, 10, []]
  const payload = JSON.stringify(scenario(1, 1).next()[0].args).length
  const result = scenario(1, 1).handler({ service: 'checkout', since: '', lines: 1 }).length
  const keep = async () => {
    for (let turn = 0; turn < turns; turn++) {
      await run({ ...scenario(steps, 1), keep: (held) => kept.push(held) })
    }
  }
  await keep()
  kept.length = 0
  const before = heap()
  await keep()
  return (heap() - before) / (steps * turns) - payload - result
}

function heap() {
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function run(one) {
  one.check(await loop(one))
}

const tasks = { sample, growth, retained }
process.on('message', ({ task, ...options }) => {
  void tasks[task](options).then((result) => process.send(result))
})
process.send('ready')
