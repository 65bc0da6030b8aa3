import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileSpool } from '../../src/stores/fs/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'

let server: EmbeddedServer
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-turns-'))
  server = await embeddedServer()
}, 60_000)
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true })
}, 30_000)

const TURNS = 200

/** Runs all turns at once on a schema of their own, and expects that nothing is lost and nothing doubled. */
async function runTurns(schema: string): Promise<void> {
  const store = postgresStore({
    url: `${server.url}?application_name=${schema}`,
    schema,
    connections: 10,
    spool: fileSpool(join(folder, schema)),
  })
  const ran = new Map<string, number>()
  const tool = (name: string, effect: 'read' | 'write') =>
    new Tool({
      name,
      description: `Does ${name}.`,
      inputSchema: z.object({ n: z.number() }),
      effect,
      trust: 'first-party',
      handler: ({ n }, { idempotencyKey: key }) => {
        ran.set(key, (ran.get(key) ?? 0) + 1)
        return `${name} ${n % 7} is done`
      },
    })
  const runner = new TurnRunner({
    store,
    tools: [tool('look', 'read'), tool('charge', 'write')],
    executor: async ({ iteration, conversation }) => {
      const n = Number(conversation)
      if (iteration > 2) return { answer: `done ${n}` }
      return {
        calls: [
          { id: `a${iteration}`, tool: 'look', args: { n } },
          { id: `b${iteration}`, tool: 'charge', args: { n } },
        ],
      }
    },
  })
  const names = Array.from({ length: TURNS }, (_, n) => String(n))
  const outcomes = await Promise.all(
    names.map((conversation) => runner.run({ conversation, message: 'Go.' })),
  )
  expect(
    outcomes.map(({ status, text, reason }) => `${status}: ${reason?.message ?? text}`),
  ).toEqual(names.map((n) => `completed: done ${n}`))
  const ids = ['a1', 'a2', 'b1', 'b2']
  const keys = names.flatMap((name) => ids.map((id) => `${name}/${id}`))
  expect(Object.fromEntries(ran)).toEqual(Object.fromEntries(keys.map((key) => [key, 1])))
  expect(await store.count({ kind: 'settlement', settlement: 'ok' })).toBe(TURNS * ids.length)
  expect(await store.count({ kind: 'intent' })).toBe(TURNS * ids.length)
  expect(await store.count({ kind: 'turn-end' })).toBe(TURNS)
  for (const name of names) {
    const { entries } = await store.find({ conversation: name, kind: 'settlement' })
    const settled = entries.map(({ entry }) => (entry.data as { id: string }).id)
    expect(settled.sort()).toEqual(ids)
    expect((await store.verify({ conversation: name })).faults).toEqual([])
  }
  await store.close()
}

describe('turns on PostgreSQL', { timeout: 120_000 }, () => {
  it('complete, 200 at once, with nothing lost and nothing doubled', async () => {
    await runTurns('turns')
  })

  it('do so too while the server ends their connections, one after another', async () => {
    const admin = postgres(server.url, { max: 1 })
    const over = new AbortController()
    let ended = 0
    const ending = (async () => {
      while (!over.signal.aborted) {
        const found = await admin`SELECT pid FROM pg_stat_activity
          WHERE application_name = 'harassed' ORDER BY random()`
        // Not the one that makes the tables: whatever takes longer than the pause would never end.
        if (found.length > 3) {
          await admin`SELECT pg_terminate_backend(${Number(found[0]?.['pid'])})`
          ended++
        }
        await sleep(50)
      }
    })()
    try {
      await runTurns('harassed')
    } finally {
      over.abort()
      await ending
      await admin.end()
    }
    expect(ended).toBeGreaterThan(20)
  })
})
