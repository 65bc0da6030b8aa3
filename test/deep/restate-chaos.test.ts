import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestateClient, restateClient } from '../../src/restate/index.ts'
import { sweepSpool } from '../../src/store/audit/sweep-spool.ts'
import type { Store } from '../../src/store/store.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { type S3Spool, s3Spool } from '../../src/stores/s3/index.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'
import { freePort } from '../restate/free-port.ts'
import { type RestateServer, restateServer } from '../restate/restate-server.ts'
import {
  balancer,
  type Effects,
  effectsServer,
  type Worker,
  workerProcess,
} from '../restate/workers.ts'
import { type RadosServer, radosServer } from '../s3/rados-server.ts'

/** How long parts are killed. The figures in the guide are from ten minutes: `BOBBIN_CHAOS_SECONDS=600`. */
const SECONDS = Number(process.env['BOBBIN_CHAOS_SECONDS'] ?? 90)
const TURNS = Math.max(60, Math.round(SECONDS / 2))
const AT_ONCE = 6

let database: EmbeddedServer
let bucket: RadosServer
let engine: RestateServer
let effects: Effects
let store: Store
let spool: S3Spool
let client: RestateClient
const workers: Worker[] = []
let front: Awaited<ReturnType<typeof balancer>>
let ingress: Awaited<ReturnType<typeof balancer>>

beforeAll(async () => {
  ;[database, bucket, engine, effects] = await Promise.all([
    embeddedServer(),
    radosServer(),
    restateServer(3),
    effectsServer(),
  ])
  await bucket.makeBucket('chaos')
  const settings = {
    args: ['--postgres', database.url, '--s3', `${bucket.endpoint}/chaos/a`, '--name', 'Payer'],
    env: {
      EFFECTS_URL: effects.url,
      AWS_ACCESS_KEY_ID: bucket.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    },
  }
  for (let i = 0; i < 3; i++) workers.push(workerProcess(await freePort(), settings))
  // The first makes the tables.
  for (const worker of workers) await worker.start()
  const { endpoint, accessKeyId, secretAccessKey } = bucket
  spool = s3Spool({
    ...{ endpoint, accessKeyId, secretAccessKey },
    ...{ bucket: 'chaos', prefix: 'a', retryTimeoutMs: 30_000 },
  })
  store = postgresStore({ url: database.url, spool })
  front = await balancer(workers)
  ingress = await balancer(engine.nodes)
  await engine.register(front.url, 'Payer')
  client = restateClient({ ingress: ingress.url, name: 'Payer', retryTimeoutMs: 120_000 })
}, 300_000)
afterAll(async () => {
  await store?.close()
  await Promise.all(workers.map((worker) => worker.kill()))
  front?.close()
  ingress?.close()
  effects?.close()
  await Promise.all([database?.remove(), engine?.remove(), bucket?.remove()])
}, 60_000)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What can die, and how it comes back. */
const DEATHS: readonly (readonly [string, () => Promise<void>])[] = [
  ...[0, 1, 2].map((i): [string, () => Promise<void>] => [
    `worker ${i}`,
    async () => {
      await workers[i]?.kill()
      await pause(500)
      await workers[i]?.start()
    },
  ]),
  ...[0, 1, 2].map((i): [string, () => Promise<void>] => [
    `engine ${i}`,
    async () => {
      await engine.nodes[i]?.kill()
      await pause(1000)
      await engine.nodes[i]?.start()
    },
  ]),
  [
    'database',
    async () => {
      await database.stop()
      await pause(500)
      await database.start()
    },
  ],
  [
    'bucket',
    async () => {
      await bucket.kill()
      await pause(500)
      await bucket.start()
    },
  ],
]

/** One conversation: a turn of some kind, its gates approved. */
async function live(i: number): Promise<{ status: string; why: string }> {
  const conversation = `chaos-${i}`
  const what = ['charge', 'both', 'pay', 'nest', 'charge'][i % 5] ?? 'look'
  // A charge of more than 200 ms gives a result for the bucket.
  const message = `${what} c${i} ${i % 5 === 4 ? 900 : 250}`
  let outcome = await client.run({ conversation, message, turnId: `turn-${i}` })
  for (let round = 0; outcome.status === 'suspended' && round < 5; round++) {
    const decisions = outcome.gates.map(({ id }) => ({ gate: id, decidedBy: 'ann', approve: true }))
    outcome = await client.resume({ conversation, decisions }).catch(async (error: unknown) => {
      // The decision counted, and its answer was lost with the engine.
      if ((error as { code?: string }).code !== 'E_GATE_STATE') throw error
      return client.recover({ conversation })
    })
  }
  const { status, reason, text } = outcome
  return { status, why: `${JSON.stringify(reason)} ${text}` }
}

describe('three workers, three engines, a database and a bucket that die at random', () => {
  it('end every turn, repeat no effect, report every doubt and lose nothing', async () => {
    const until = performance.now() + SECONDS * 1000
    const deaths = new Map<string, number>()
    const over = new AbortController()
    const killing = (async () => {
      while (performance.now() < until && !over.signal.aborted) {
        const [name, die] = DEATHS[Math.floor(Math.random() * DEATHS.length)] ?? ['', pause]
        deaths.set(name, (deaths.get(name) ?? 0) + 1)
        await (die as () => Promise<void>)()
        await pause(1500)
      }
    })()
    const ends = new Map<string, number>()
    const odd: string[] = []
    let next = 0
    const runner = async () => {
      for (let i = next++; i < TURNS; i = next++) {
        const { status, why } = await live(i)
        ends.set(status, (ends.get(status) ?? 0) + 1)
        if (status !== 'completed') odd.push(`turn ${i}: ${why}`)
        // Spread over the time in which parts die.
        await pause(Math.max(0, (SECONDS * 1000 * AT_ONCE) / TURNS - 1500))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, runner))
    over.abort()
    await killing
    expect(deaths.size).toBeGreaterThan(3)
    expect({ ends: [...ends], odd }).toEqual({ ends: [['completed', TURNS]], odd: [] })

    const twice = [...effects.done].filter(([name, n]) => !name.startsWith('look/') && n > 1)
    expect(twice).toEqual([])
    let doubts = 0
    for (let i = 0; i < TURNS; i++) {
      const conversation = `chaos-${i}`
      expect((await store.verify({ conversation })).faults).toEqual([])
      const { items } = await store.history({ conversation, limit: 200 })
      const settlements = items.flatMap((item) => ('settlement' in item ? [item.settlement] : []))
      expect(settlements.length).toBeGreaterThan(0)
      const happened = ['charge', 'pay'].some((what) => effects.count(what, `c${i}`) === 1)
      const isDoubted = settlements.includes('in-doubt')
      if (isDoubted) doubts++
      // What happened has a record that says so, or that it may have.
      if (happened) expect(settlements.some((one) => one === 'ok' || one === 'in-doubt')).toBe(true)
    }
    // A doubt comes from a death in the middle of a call: far less than half of the calls.
    expect(doubts).toBeLessThan(TURNS / 2)
    await sweepSpool(store, spool, { graceMs: -60_000 })
    const inUse = new Set<string>()
    for await (const digest of store.digests()) inUse.add(digest)
    const held = new Set<string>()
    for await (const digest of spool.digests()) held.add(digest)
    for (const digest of held) expect(inUse.has(digest)).toBe(true)
    expect(held.size).toBeGreaterThan(0)
  }, 1_200_000)
})
