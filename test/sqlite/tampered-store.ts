import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import type { Store, VerifyFault } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { storeSamples as sample } from '../../src/testing/store/store-samples.ts'

/** A store on SQLite with a door to its tables. */
export interface TamperedStore {
  readonly store: Store
  readonly database: InstanceType<typeof Database>
  /** The seals of its turns. */
  readonly seals: readonly string[]
  /** Does something to the tables, looks at what `verify` says, and undoes it. */
  after(sql: string, ...values: string[]): Promise<readonly VerifyFault[]>
  /**
   * Edits one character at a time of every column of every entry and gate, in long columns only each
   * `step`-th, and gives what `verify` did not find.
   */
  missedEdits(step: number): Promise<{ readonly edits: number; readonly missed: readonly string[] }>
  /** Flips one bit of every `step`-th byte, each of the eight in turn, or every bit with a step of 1. */
  missedBits(step: number): Promise<{ readonly edits: number; readonly missed: readonly string[] }>
  remove(): Promise<void>
}

const TABLES = {
  bobbin_entries: 'kind turn id tool checksum settlement digest seal body',
  bobbin_gates: 'id state digest body',
}

/** Two sealed turns and an unsealed tail, with everything that can be stored. */
export async function tamperedStore(): Promise<TamperedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
  const database = new Database(join(folder, 'x.db'))
  const store = sqliteStore(join(folder, 'x.db'), { database })
  const seals = await fill(store)
  // Set here once, because it cannot be set in a transaction.
  database.exec('PRAGMA foreign_keys = OFF')

  const after = async (sql: string, ...values: string[]) => {
    database.exec('BEGIN')
    try {
      for (const part of sql.split(';')) database.prepare(part).run(values)
      return (await store.verify({ conversation: 'c' })).faults
    } finally {
      database.exec('ROLLBACK')
    }
  }

  return {
    store,
    database,
    seals,
    after,

    async missedEdits(step) {
      const missed: string[] = []
      let edits = 0
      for (const [table, columns] of Object.entries(TABLES)) {
        const key = table === 'bobbin_entries' ? 'seq' : 'id'
        const rows = database.prepare(`SELECT * FROM ${table}`).all([]) as Record<string, unknown>[]
        for (const row of rows) {
          for (const column of columns.split(' ')) {
            const text = row[column]
            if (typeof text !== 'string') continue
            const stride = text.length > 100 ? step : 1
            for (let at = edits % stride; at < text.length; at += stride) {
              edits++
              const other = text[at] === '0' ? '1' : '0'
              const edited = text.slice(0, at) + other + text.slice(at + 1)
              const sql = `UPDATE OR REPLACE ${table} SET ${column} = ?1 WHERE ${key} = ?2`
              const faults = await after(sql, edited, String(row[key]))
              if (faults.length === 0) missed.push(`${table} ${String(row[key])} ${column} ${at}`)
            }
          }
        }
      }
      return { edits, missed }
    },

    async missedBits(step) {
      const missed: string[] = []
      let edits = 0
      for (const [table, columns] of Object.entries(TABLES)) {
        const key = table === 'bobbin_entries' ? 'seq' : 'id'
        const rows = database.prepare(`SELECT * FROM ${table}`).all([]) as Record<string, unknown>[]
        for (const row of rows) {
          for (const column of columns.split(' ')) {
            const bytes = Buffer.from(typeof row[column] === 'string' ? row[column] : '')
            for (let at = edits % step; at < bytes.length; at += step) {
              for (const bit of step === 1 ? [0, 1, 2, 3, 4, 5, 6, 7] : [edits % 8]) {
                edits++
                const edited = Buffer.from(bytes)
                edited[at] = (edited[at] ?? 0) ^ (1 << bit)
                const text = `CAST(x'${edited.toString('hex')}' AS TEXT)`
                const sql = `UPDATE OR REPLACE ${table} SET ${column} = ${text} WHERE ${key} = ?1`
                const faults = await after(sql, String(row[key]))
                if (faults.length === 0) missed.push(`${table} ${String(row[key])} ${column} ${at}`)
              }
            }
          }
        }
      }
      return { edits, missed }
    },

    async remove() {
      await store.close()
      database.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function fill(store: Store): Promise<string[]> {
  const result = new TextEncoder().encode('a small result')
  const digest = createHash('sha256').update(result).digest('hex')
  const { epoch } = await store.acquire('c', { owner: 'test', leaseMs: 1e9 })
  await store.append(
    'c',
    epoch,
    [
      sample.turnStart('t1'),
      sample.message('t1', 'm1'),
      sample.intent('t1', 'call_1'),
      sample.settlement('t1', 'call_1', { results: sample.artifact(digest, result.length) }),
      sample.gateOpened('t1', 'g1'),
      sample.gateOpened('t1', 'g2'),
      sample.turnEnd('t1'),
    ],
    [result],
  )
  await store.decideGate('c', 'g1', { verdict: 'approved', decidedBy: 'ada' })
  await store.append('c', epoch, [
    sample.gateClosed('t2', 'g1', 'consumed'),
    sample.settlement('t2', 'call_2'),
    sample.turnEnd('t2'),
  ])
  await store.append('c', epoch, [sample.note('t3', 'after the last seal')])
  const seals: string[] = []
  for await (const { seal } of store.entries('c')) if (seal !== undefined) seals.push(seal)
  return seals
}
