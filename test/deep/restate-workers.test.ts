import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ToolCall } from '../../src/records/tool-call.ts'
import { type RestateClient, restateClient } from '../../src/restate/index.ts'
import type { Store } from '../../src/store/store.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
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

let database: EmbeddedServer
let engine: RestateServer
let effects: Effects
let store: Store
let client: RestateClient
let workers: Worker[] = []
let front: Awaited<ReturnType<typeof balancer>>

beforeAll(async () => {
  ;[database, engine, effects] = await Promise.all([
    embeddedServer(),
    restateServer(),
    effectsServer(),
  ])
  const settings = {
    args: ['--postgres', database.url, '--name', 'Payer'],
    env: { EFFECTS_URL: effects.url },
  }
  workers = [workerProcess(await freePort(), settings), workerProcess(await freePort(), settings)]
  store = postgresStore({ url: database.url })
  await workers[0]?.start()
  await workers[1]?.start()
  front = await balancer(workers)
  await engine.register(front.url, 'Payer')
  client = restateClient({ ingress: engine.nodes[0]?.ingress ?? '', name: 'Payer', store })
}, 120_000)
afterAll(async () => {
  await store?.close()
  await Promise.all(workers.map((worker) => worker.kill()))
  front?.close()
  effects?.close()
  await Promise.all([database?.remove(), engine?.remove()])
}, 30_000)

/** The worker that did something for the first time. */
async function workerOf(what: string, key: string): Promise<Worker> {
  const pid = await effects.until(what, key)
  const found = workers.find((worker) => worker.pid === pid)
  if (found === undefined) throw new Error(`No worker has the process ${pid}.`)
  return found
}

describe('workers of Restate', () => {
  it('charge once when a worker dies in the middle, report the doubt, and continue within seconds', async () => {
    const handle = client.run({ conversation: 'killed', message: 'charge k1 60000', turnId: 't' })
    const victim = await workerOf('charge', 'k1')
    const died = performance.now()
    await victim.kill()
    const outcome = await handle
    expect(performance.now() - died).toBeLessThan(5000)
    expect(outcome).toMatchObject({ status: 'completed' })
    expect(outcome.toolCalls).toMatchObject([{ tool: 'charge', settlement: 'in-doubt' }])
    expect(effects.count('charge', 'k1')).toBe(1)
    expect((await store.verify({ conversation: 'killed' })).faults).toEqual([])
    await victim.start()
  })

  it('let a paused worker that comes back write nothing after it was replaced', async () => {
    const handle = client.run({ conversation: 'paused', message: 'charge k2 1500', turnId: 't' })
    const sleeper = await workerOf('charge', 'k2')
    sleeper.pause()
    front.out.add(sleeper)
    front.cut()
    const outcome = await handle
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'in-doubt' }])
    const { length, epoch } = (await store.conversation('paused')) ?? {}
    sleeper.unpause()
    front.out.delete(sleeper)
    // The handler of the sleeper ends now, and its runner tries to write.
    await new Promise((resolve) => setTimeout(resolve, 3000))
    expect(await store.conversation('paused')).toMatchObject({ length, epoch })
    expect(effects.count('charge', 'k2')).toBe(1)
    expect((await store.verify({ conversation: 'paused' })).faults).toEqual([])
  })

  it('suspend at a gate, and continue when another client decides', async () => {
    const suspended = await client.run({ conversation: 'gated', message: 'pay k3' })
    expect(suspended.status).toBe('suspended')
    const other = restateClient({ ingress: engine.nodes[0]?.ingress ?? '', name: 'Payer' })
    const { gates } = await other.status({ conversation: 'gated' })
    const gate = gates[0]?.id ?? ''
    const decision = { gate, decidedBy: 'ann', approve: true }
    const resumed = other.resume({ conversation: 'gated', decisions: [decision] })
    expect(await resumed).toMatchObject({ status: 'completed', text: 'pay k3' })
    expect(effects.count('pay', 'k3')).toBe(1)
    const again = other.resume({ conversation: 'gated', decisions: [decision] })
    await expect(again).rejects.toMatchObject({ code: 'E_GATE_STATE' })
    await expect(() => resumed[Symbol.asyncIterator]().next()).rejects.toThrow('`store`')
  })

  it('surface the gate of a sub-agent, decided at either place', async () => {
    for (const [conversation, isInner] of [
      ['outer', false],
      ['inner', true],
    ] as const) {
      const suspended = await client.run({ conversation, message: `nest n-${conversation}` })
      const [gate] = suspended.gates
      expect(suspended).toMatchObject({ status: 'suspended' })
      const place = gate?.context as { conversation?: string; gate?: string } | undefined
      const decision = { gate: gate?.id ?? '', decidedBy: 'ann', approve: true }
      const asked = isInner
        ? {
            conversation: place?.conversation ?? '',
            decisions: [{ ...decision, gate: place?.gate ?? '' }],
          }
        : { conversation, decisions: [decision] }
      expect(await client.resume(asked)).toMatchObject({ status: 'completed', conversation })
      expect(effects.count('pay', `n-${conversation}`)).toBe(1)
    }
  })

  it('continue by themselves when a gate has expired', async () => {
    const suspended = await client.run({ conversation: 'expired', message: 'sign k8' })
    expect(suspended).toMatchObject({ status: 'suspended', gates: [{ kind: 'result' }] })
    for (let i = 0; i < 100; i++) {
      const { gates, isRunning } = await client.status({ conversation: 'expired' })
      if (gates.length === 0 && !isRunning) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const { items } = await client.history({ conversation: 'expired' })
    expect(items.at(-1)).toMatchObject({ role: 'assistant' })
    expect(items.filter(ToolCall.isToolCall)).toMatchObject([{ settlement: 'abandoned' }])
  })

  it('undo a call, and ask again without it', async () => {
    const { toolCalls } = await client.run({ conversation: 'undone', message: 'charge k9 0' })
    const id = toolCalls[0]?.id ?? ''
    const again = () => client.regenerate({ conversation: 'undone', message: 'look k9' })
    await expect(again()).rejects.toMatchObject({ code: 'E_EFFECTS_WOULD_REPEAT' })
    const undo = { conversation: 'undone', toolCallId: id, decidedBy: 'ann' }
    expect((await client.undo(undo)).toolCalls).toMatchObject([{ undoes: id, settlement: 'ok' }])
    await expect(client.undo(undo)).rejects.toMatchObject({ code: 'E_CANNOT_UNDO' })
    expect(effects.count('refund', 'k9')).toBe(1)
    const other = { conversation: 'undone', message: 'look k9', redoEffects: true }
    expect(await client.regenerate(other)).toMatchObject({ status: 'completed', text: 'look k9' })
    expect((await store.verify({ conversation: 'undone' })).faults).toEqual([])
  })

  it('end when they are stopped, and when the engine cancels them', async () => {
    const handle = client.run({ conversation: 'stopped', message: 'charge k4 60000' })
    await effects.until('charge', 'k4')
    handle.abort()
    expect(await handle).toMatchObject({ status: 'aborted' })
    const cancelled = client.run({ conversation: 'cancelled', message: 'charge k5 60000' })
    await effects.until('charge', 'k5')
    await cancelAll()
    await expect(cancelled).rejects.toMatchObject({ code: 'E_ENGINE' })
    expect(await client.status({ conversation: 'cancelled' })).toMatchObject({ isRunning: false })
    const next = await client.run({ conversation: 'cancelled', message: 'look k5' })
    expect(next).toMatchObject({ status: 'completed' })
  })

  it('start later when they are asked to, and survive a restart of the engine', async () => {
    const asked = performance.now()
    const handle = client.run({
      conversation: 'later',
      message: 'look k6',
      delayMs: 1500,
      turnId: 'd',
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await engine.nodes[0]?.kill()
    await engine.nodes[0]?.start()
    expect(await handle).toMatchObject({ status: 'completed', turnId: 'd' })
    expect(performance.now() - asked).toBeGreaterThan(1500)
    expect(effects.count('look', 'k6')).toBe(1)
  })

  it('refuse a gate that is bound to a tool that a deploy has changed', async () => {
    const suspended = await client.run({ conversation: 'deployed', message: 'pay k7' })
    const [gate] = suspended.gates
    await Promise.all(workers.map((worker) => worker.kill()))
    for (const worker of workers) await worker.start({ PAY_DESCRIPTION: 'Pays in another way.' })
    const decision = { gate: gate?.id ?? '', decidedBy: 'ann', approve: true }
    const outcome = await client.resume({ conversation: 'deployed', decisions: [decision] })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'refused' }])
    expect(effects.count('pay', 'k7')).toBe(0)
    expect((await store.verify({ conversation: 'deployed' })).faults).toEqual([])
  })

  it('say in one sentence what is wrong', async () => {
    const ingress = engine.nodes[0]?.ingress ?? ''
    const unknown = restateClient({ ingress, name: 'Nobody' })
    await expect(unknown.run({ message: 'x' })).rejects.toThrow(
      'The engine does not know the agent `Nobody`: start a worker and register it.',
    )
    const nowhere = restateClient({
      ingress: `http://127.0.0.1:${await freePort()}`,
      name: 'Payer',
      retryTimeoutMs: 0,
    })
    await expect(nowhere.run({ message: 'x' })).rejects.toThrow('(ECONNREFUSED). Check `ingress`')
  })
})

/** Cancels every turn, as an operator would. */
async function cancelAll(): Promise<void> {
  const admin = engine.nodes[0]?.admin ?? ''
  const query = "SELECT id FROM sys_invocation WHERE status IN ('running', 'backing-off')"
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const body = JSON.stringify({ query })
  const response = await fetch(`${admin}/query`, { method: 'POST', headers, body })
  const { rows } = (await response.json()) as { rows: { id: string }[] }
  for (const { id } of rows) {
    await fetch(`${admin}/invocations/${id}/cancel`, { method: 'PATCH' })
  }
}
