import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../store/store.ts'
import { storeSamples as sample } from '../../testing/store-samples.ts'
import { sqliteStore } from './sqlite-store.ts'

const RESULT = new TextEncoder().encode('a small result')

let folder: string
let database: InstanceType<typeof Database>
let store: Store
let seals: string[]

/** Two sealed turns and an unsealed tail, with everything that can be stored. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
  database = new Database(join(folder, 'x.db'))
  store = sqliteStore('unused.db', { database })
  const { createHash } = await import('node:crypto')
  const digest = createHash('sha256').update(RESULT).digest('hex')
  const { epoch } = await store.acquire('c', { owner: 'test', leaseMs: 1e9 })
  await store.append(
    'c',
    epoch,
    [
      sample.turnStart('t1'),
      sample.message('t1', 'm1'),
      sample.intent('t1', 'call_1'),
      sample.settlement('t1', 'call_1', { results: sample.artifact(digest, RESULT.length) }),
      sample.gateOpened('t1', 'g1'),
      sample.gateOpened('t1', 'g2'),
      sample.turnEnd('t1'),
    ],
    [RESULT],
  )
  await store.decideGate('c', 'g1', { verdict: 'approved', decidedBy: 'ada' })
  await store.append('c', epoch, [
    sample.gateClosed('t2', 'g1', 'consumed'),
    sample.settlement('t2', 'call_2'),
    sample.turnEnd('t2'),
  ])
  await store.append('c', epoch, [sample.note('t3', 'after the last seal')])
  seals = []
  for await (const { seal } of store.entries('c')) if (seal !== undefined) seals.push(seal)
  database.exec('PRAGMA foreign_keys = OFF')
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

const faultsNow = async () => (await store.verify({ conversation: 'c' })).faults

/** Does something to the tables, looks at what `verify` says, and undoes it. */
async function after(sql: string, ...values: (string | Uint8Array)[]) {
  database.exec('BEGIN')
  try {
    for (const part of sql.split(';')) database.prepare(part).run(values)
    return await faultsNow()
  } finally {
    database.exec('ROLLBACK')
  }
}

describe('verify, on SQLite', () => {
  it('finds nothing when nothing was done', async () => {
    expect((await store.verify({ conversation: 'c', seals })).faults).toEqual([])
  })

  it('finds every single-byte edit of every column of every entry and gate', async () => {
    const tables = {
      bobbin_entries: [
        'kind',
        'turn',
        'id',
        'tool',
        'checksum',
        'settlement',
        'digest',
        'seal',
        'body',
      ],
      bobbin_gates: ['id', 'state', 'digest', 'body'],
    }
    const missed: string[] = []
    let edits = 0
    for (const [table, columns] of Object.entries(tables)) {
      const key = table === 'bobbin_entries' ? 'seq' : 'id'
      const rows = database.prepare(`SELECT * FROM ${table}`).all([]) as Record<string, unknown>[]
      for (const row of rows) {
        for (const column of columns) {
          const text = row[column]
          if (typeof text !== 'string') continue
          // Every byte of the short columns; of the long ones every ninth, each time another one.
          const step = text.length > 100 ? 9 : 1
          for (let at = edits % step; at < text.length; at += step) {
            edits++
            const edited = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
            const where = `${table} ${String(row[key])} ${column} ${at}`
            const faults = await after(
              `UPDATE OR REPLACE ${table} SET ${column} = ?1 WHERE ${key} = ?2`,
              edited,
              String(row[key]),
            )
            if (faults.length === 0) missed.push(where)
          }
        }
      }
    }
    expect(missed).toEqual([])
    expect(edits).toBeGreaterThan(900)
  })

  it.each([
    ['a text with its digest recomputed', 'edited', 'seal', () => editWithDigest(4)],
    [
      'an entry deleted from the middle',
      'deleted',
      'entry',
      () => after('DELETE FROM bobbin_entries WHERE seq = 3'),
    ],
    [
      'the last entry deleted',
      'deleted',
      'conversation',
      () => after('DELETE FROM bobbin_entries WHERE seq = 11'),
    ],
    [
      'two entries exchanged',
      'reordered',
      'entry',
      () =>
        after(
          'UPDATE bobbin_entries SET seq = -1 WHERE seq = 2; UPDATE bobbin_entries SET seq = 2 WHERE seq = 3; UPDATE bobbin_entries SET seq = 3 WHERE seq = -1',
        ),
    ],
    [
      'an entry added',
      'inserted',
      'conversation',
      () =>
        after(
          'INSERT INTO bobbin_entries (conversation, seq, kind, turn, time, digest, body) SELECT conversation, 12, kind, turn, time, digest, body FROM bobbin_entries WHERE seq = 11',
        ),
    ],
    [
      'a time changed',
      'edited',
      'entry',
      () => after('UPDATE bobbin_entries SET time = time + 1 WHERE seq = 2'),
    ],
    ['a gate deleted', 'deleted', 'gate', () => after("DELETE FROM bobbin_gates WHERE id = 'g2'")],
    [
      'a gate added',
      'inserted',
      'gate',
      () =>
        after(
          "INSERT INTO bobbin_gates SELECT conversation, 'g3', state, digest, body FROM bobbin_gates WHERE id = 'g2'",
        ),
    ],
    [
      'a used gate reopened',
      'edited',
      'gate',
      () => after("UPDATE bobbin_gates SET state = 'approved' WHERE id = 'g1'"),
    ],
    ['a blob edited', 'edited', 'blob', () => after("UPDATE bobbin_blobs SET bytes = x'00'")],
    ['a blob deleted', 'deleted', 'spool', () => after('DELETE FROM bobbin_blobs')],
    [
      'a reference deleted',
      'deleted',
      'conversation',
      () => after('DELETE FROM bobbin_references'),
    ],
    [
      'another key',
      'edited',
      'conversation',
      () => after('UPDATE bobbin_conversations SET key = randomblob(32)'),
    ],
    [
      'another seal',
      'edited',
      'conversation',
      () => after("UPDATE bobbin_conversations SET seal = ''"),
    ],
    [
      'an earlier epoch',
      'inserted',
      'entry',
      () => after('UPDATE bobbin_conversations SET epoch = 0'),
    ],
  ] as const)('names %s', async (_, fault, part, tamper) => {
    const faults = await tamper()
    expect(faults).toContainEqual(expect.objectContaining({ fault, part }))
  })

  it('cannot see that the last turns were dropped, unless a seal was kept elsewhere', async () => {
    const sql = `DELETE FROM bobbin_entries WHERE seq > 7; DELETE FROM bobbin_gates WHERE id = 'g1';
      INSERT INTO bobbin_gates SELECT conversation, 'g1', state, digest, body FROM bobbin_gates WHERE id = 'g2'`
    database.exec('BEGIN')
    database.exec(sql.split(';')[0] ?? '')
    database
      .prepare('UPDATE bobbin_conversations SET length = 7, sealed_seq = 7, seal = ?')
      .run([seals[0] ?? ''])
    const { faults } = await store.verify({ conversation: 'c' })
    expect(faults.filter(({ part }) => part !== 'gate')).toEqual([])
    const kept = await store.verify({ conversation: 'c', seals })
    expect(kept.faults).toContainEqual(
      expect.objectContaining({ fault: 'seal-missing', id: seals[1] }),
    )
    database.exec('ROLLBACK')
    expect(await faultsNow()).toEqual([])
  })

  it('refuses to read an entry, a gate or a blob that was edited', async () => {
    database.exec('BEGIN')
    database.exec("UPDATE bobbin_entries SET body = replace(body, 'done', 'gone')")
    await expect(store.get('c', 'settlement', 'call_2')).rejects.toMatchObject({
      code: 'E_STORE_CORRUPT',
    })
    database.exec('UPDATE bobbin_gates SET body = replace(body, \'"n":1\', \'"n":9\')')
    await expect(store.gate('c', 'g2')).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' })
    database.exec('ROLLBACK')
  })
})

/** What somebody does who knows how digests are made but not the key. */
async function editWithDigest(seq: number) {
  const { createHash } = await import('node:crypto')
  const { body } = database.prepare('SELECT body FROM bobbin_entries WHERE seq = ?').get([seq]) as {
    body: string
  }
  const edited = body.replace('"isError":false', '"isError":true')
  const digest = createHash('sha256').update(edited).digest('hex')
  return after(
    `UPDATE bobbin_entries SET body = ?1, digest = ?2 WHERE seq = ${seq}`,
    edited,
    digest,
  )
}
