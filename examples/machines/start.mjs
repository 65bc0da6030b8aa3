// An agent on many machines, all on this one: a database, an engine and three workers, of which one dies in the middle.
// Run it with `npm run machines`.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { postgresStore } from 'bobbin-adk/postgres'
import { restateClient } from 'bobbin-adk/restate'
import * as parts from './parts.mjs'

/**
 * @param {import('node:child_process').ChildProcess} worker
 * @returns {Promise<import('node:child_process').ChildProcess>}
 */
const whenCharging = (worker) =>
  new Promise((resolve) =>
    worker.stdout?.on('data', (data) => String(data).includes('charging') && resolve(worker)),
  )

const agent = fileURLToPath(new URL('agent.mjs', import.meta.url))
try {
  console.log('Starting a database, an engine and three workers …')
  const [database, engine] = await Promise.all([parts.startDatabase(), parts.startEngine()])
  const ports = [await parts.freePort(), await parts.freePort(), await parts.freePort()]
  const args = ['--postgres', database, '--name', 'Cashier', '--no-register']
  const workers = []
  for (const port of ports) workers.push(await parts.startWorker(agent, port, args))
  await parts.register(engine, await parts.startBalancer(ports))

  const store = postgresStore({ url: database })
  const client = restateClient({ ingress: engine.ingress, name: 'Cashier', store })
  const turns = ['ann', 'bob', 'eve'].map((conversation) =>
    client.run({ conversation, message: 'Charge me.' }),
  )
  const busy = await Promise.race(workers.map(whenCharging))
  console.log('Killing the worker that charges …')
  busy.kill('SIGKILL')
  for (const outcome of await Promise.all(turns)) {
    const calls = outcome.toolCalls.map(({ tool, settlement }) => `${tool} ${settlement}`)
    console.log(`${outcome.conversation}: ${outcome.status}, ${calls.join(', ')}`)
    assert.equal(outcome.status, 'completed')
    assert.equal(calls.length, 1)
    assert.deepEqual((await store.verify({ conversation: outcome.conversation })).faults, [])
  }
  console.log('What the dead worker did is in doubt; nothing was charged twice.')
  await store.close()
} finally {
  await parts.stopAll()
}
process.exit()
