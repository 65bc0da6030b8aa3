// Turns through a Restate engine with one and two worker processes, beside the same turns in this process, on one
// PostgreSQL. Times are of this machine; compare ratios.
import { fileURLToPath } from 'node:url'
import { TurnRunner } from '../dist/index.js'
import { restateClient } from '../dist/restate/index.js'
import { postgresStore } from '../dist/stores/postgres/index.js'
import { agent } from '../examples/machines/agent.mjs'
import * as parts from '../examples/machines/parts.mjs'
import { percentile, printTable, target } from './measure.mjs'

process.env.CHARGE_MS = '0'
const TURNS = 200
const AT_ONCE = 8
const file = fileURLToPath(new URL('../examples/machines/agent.mjs', import.meta.url))

async function measure(run) {
  for (let i = 0; i < 10; i++) await run(`warm-${i}-${Math.random()}`)
  const times = []
  let next = 0
  const begun = performance.now()
  const lane = async () => {
    for (let i = next++; i < TURNS; i = next++) {
      const start = performance.now()
      const { status } = await run(`c-${i}-${Math.random()}`)
      if (status !== 'completed') throw new Error(`A turn ended as \`${status}\`.`)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  const seconds = (performance.now() - begun) / 1000
  return { rate: TURNS / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

const log = console.log
try {
  // The tool of the example prints, and this measures turns.
  console.log = () => {}
  const [database, engine] = await Promise.all([parts.startDatabase(), parts.startEngine()])
  const store = postgresStore({ url: database })
  const runner = new TurnRunner({ ...agent, store })
  const args = ['--postgres', database, '--name', 'Cashier', '--no-register']
  const ports = [await parts.freePort(), await parts.freePort()]
  const workers = [await parts.startWorker(file, ports[0], args, { CHARGE_MS: '0' })]
  await parts.register(engine, `http://127.0.0.1:${ports[0]}`)
  const client = restateClient({ ingress: engine.ingress, name: 'Cashier' })
  const message = 'Charge me.'
  const inProcess = await measure((conversation) => runner.run({ conversation, message }))
  const one = await measure((conversation) => client.run({ conversation, message }))
  workers.push(
    await parts.startWorker(file, ports[1], [...args.slice(0, 3), 'Second', '--no-register'], {
      CHARGE_MS: '0',
    }),
  )
  await parts.register(engine, `http://127.0.0.1:${ports[1]}`)
  const second = restateClient({ ingress: engine.ingress, name: 'Second' })
  let turn = 0
  const two = await measure((conversation) =>
    (turn++ % 2 === 0 ? client : second).run({ conversation, message }),
  )
  console.log = log
  const row = (name, { rate, p50, p99 }) => [
    name,
    rate.toFixed(0),
    p50.toFixed(1),
    p99.toFixed(1),
    (p50 / inProcess.p50).toFixed(2),
  ]
  printTable([
    [`${TURNS} turns, ${AT_ONCE} at once`, 'turns/s', 'p50 ms', 'p99 ms', 'p50 ratio'],
    row('in process', inProcess),
    row('engine, 1 worker', one),
    row('engine, 2 workers', two),
  ])

  // From the death of a worker to the end of its turn on another one, which a balancer finds.
  const lanes = [await parts.freePort(), await parts.freePort()]
  const slow = { CHARGE_MS: '600000' }
  const mortal = ['--postgres', database, '--name', 'Mortal', '--no-register']
  const dying = await parts.startWorker(file, lanes[0], mortal, slow)
  await parts.startBalancer(lanes).then((url) => parts.register(engine, url))
  const killed = restateClient({ ingress: engine.ingress, name: 'Mortal' })
  const charging = new Promise((resolve) => dying.stdout.once('data', resolve))
  const handle = killed.run({ conversation: 'dies', message })
  await charging
  await parts.startWorker(file, lanes[1], mortal, slow)
  const died = performance.now()
  dying.kill('SIGKILL')
  await handle
  const seconds = (performance.now() - died) / 1000
  target('from death to the end of the turn elsewhere', seconds < 5, `${seconds.toFixed(2)} s`)
  await store.close()
} finally {
  console.log = log
  await parts.stopAll()
}
process.exit()
