import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Store } from '../src/store/store.ts'
import { fileSpool } from '../src/stores/fs/index.ts'
import { postgresStore } from '../src/stores/postgres/index.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { Tool } from '../src/tools/tool.ts'
import type { Executor } from '../src/turn/executor/executor.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { type EmbeddedServer, embeddedServer } from './postgres/embedded-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-faults-'))
let paths = 0
const newPath = () => join(folder, `${++paths}.db`)
let server: EmbeddedServer
beforeAll(async () => {
  server = await embeddedServer()
}, 60_000)
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true })
}, 30_000)

/** A store and what goes wrong with it, while a handler runs. */
interface Fault {
  readonly store: Store
  strike(): void | Promise<void>
  mend(): void | Promise<void>
}

const FAULTS: Record<string, () => Fault> = {
  'a full disk': () => {
    const database = new Database(newPath())
    return {
      store: sqliteStore(newPath(), { database }),
      strike() {
        const { page_count: pages } = database.prepare('PRAGMA page_count').get([]) as {
          page_count: number
        }
        database.exec(`PRAGMA max_page_count = ${pages}`)
      },
      mend: () => void database.exec('PRAGMA max_page_count = 100000'),
    }
  },
  'a file that has become read-only': () => {
    const database = new Database(newPath())
    return {
      store: sqliteStore(newPath(), { database }),
      strike: () => void database.exec('PRAGMA query_only = ON'),
      mend: () => void database.exec('PRAGMA query_only = OFF'),
    }
  },
  'a database that somebody else keeps locked': () => {
    const path = newPath()
    let other: InstanceType<typeof Database> | undefined
    return {
      store: sqliteStore(path, { busyTimeoutMs: 100 }),
      strike() {
        other = new Database(path)
        other.exec('BEGIN IMMEDIATE')
      },
      mend() {
        other?.exec('ROLLBACK')
        other?.close()
      },
    }
  },
  'a database server that is gone': () => ({
    store: {
      ...postgresStore({ url: server.url, schema: 'faults', connections: 2, retryTimeoutMs: 100 }),
      spool: fileSpool(`${newPath()}.spool`),
    },
    strike: () => server.stop(),
    mend: () => server.start(),
  }),
}

const twoCalls: Executor = async ({ items }) => {
  const made = items.filter(({ type }) => type === 'call').length
  if (made === 2) return { answer: 'done' }
  return { calls: [{ id: `call_${made + 1}`, tool: 'charge', args: { n: made } }] }
}

function chargingRunner(store: Store, during: (call: string) => void | Promise<void>) {
  const charge = new Tool({
    name: 'charge',
    description: 'Charges.',
    inputSchema: z.object({ n: z.number() }),
    effect: 'write',
    trust: 'first-party',
    handler: async (_, { toolCallId }) => {
      await during(toolCallId ?? '')
      // Large enough to need new pages in a database.
      return 'charged '.repeat(5000)
    },
  })
  return new TurnRunner({ store, tools: [charge], executor: twoCalls })
}

describe('a turn, when its store fails', () => {
  it.each(Object.entries(FAULTS))(
    'ends failed with a reason and loses nothing: %s',
    { timeout: 60_000 },
    async (_, makeFault) => {
      const { store, strike, mend } = makeFault()
      const effects: string[] = []
      const runner = chargingRunner(store, async (call) => {
        effects.push(call)
        if (call === 'call_1') await strike()
      })
      const failed = await runner.run({ conversation: 'c', message: 'Charge twice.' })
      expect(failed).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
      expect(failed.reason?.message).not.toBe('')
      await mend()
      const again = await runner.recover({ conversation: 'c', force: true })
      expect(again).toMatchObject({
        status: 'completed',
        text: 'done',
        toolCalls: [
          { id: 'call_1', settlement: 'in-doubt' },
          { id: 'call_2', settlement: 'ok' },
        ],
      })
      expect(effects).toEqual(['call_1', 'call_2'])
      expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
      await store.close()
    },
  )

  it('ends failed when the database cannot be opened, was made by a newer version, or is damaged', async () => {
    const ran: string[] = []
    const run = async (path: string) => {
      const store = sqliteStore(path)
      const runner = chargingRunner(store, (call) => void ran.push(call))
      const errors: string[] = []
      runner.observe('error', ({ where }) => errors.push(where))
      const outcome = await runner.run({ conversation: 'c', message: 'Charge.' })
      await store.close()
      expect(errors).not.toEqual([])
      return outcome
    }
    const failed = { status: 'failed', toolCalls: [], reason: { code: 'STORE_FAILED' } }

    const nowhere = join(folder, 'no such folder', 'x.db')
    expect(await run(nowhere)).toMatchObject(failed)

    const diary = newPath()
    writeFileSync(diary, 'this is the diary of a file that is no database\n'.repeat(100))
    expect(await run(diary)).toMatchObject(failed)

    const newer = newPath()
    const store = sqliteStore(newer)
    await store.acquire('c', { owner: 'test' }).then(({ epoch }) => store.release('c', epoch))
    await store.close()
    const database = new Database(newer)
    database.exec('UPDATE bobbin_schema SET version = 99')
    database.close()
    const tooNew = await run(newer)
    expect(tooNew).toMatchObject(failed)
    expect(tooNew.reason?.message).toContain('upgrade the package')

    const damaged = newPath()
    const before = sqliteStore(damaged)
    await chargingRunner(before, () => {}).run({ conversation: 'c', message: 'Charge.' })
    await before.close()
    overwritePages(damaged)
    expect(await run(damaged)).toMatchObject(failed)
    expect(ran).toEqual([])
  })
})

function overwritePages(path: string): void {
  const database = new Database(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  const file = openSync(path, 'r+')
  for (let page = 4096 * 4; page < statSync(path).size; page += 4096) {
    writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page)
  }
  closeSync(file)
}
