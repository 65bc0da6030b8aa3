import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEntries } from '../../testing/store/store-check.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { groupCommit } from './group-commit.ts'
import { type Sqlite, sqliteOver } from './sqlite-database.ts'
import { sqliteStore } from './sqlite-store.ts'

let folder: string
let files = 0
const newPath = () => join(folder, `${++files}.db`)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('groupCommit', () => {
  it('runs what is asked for at once in few transactions, in order', async () => {
    const sqlite = sqliteOver(new Database(newPath()), 'array')
    sqlite.exec('CREATE TABLE t (x INTEGER)')
    let transactions = 0
    const commits = groupCommit(async (_, work) => {
      transactions++
      return work(sqlite)
    })
    const numbers = Array.from({ length: 100 }, (_, i) => i)
    const insert = (i: number) => (db: Sqlite) => {
      db.run('INSERT INTO t VALUES (?)', [i])
      return i
    }
    const made = numbers.map((i) => commits.run('insert', insert(i)))
    expect(await Promise.all(made)).toEqual(numbers)
    expect(transactions).toBe(2)
    const rows = sqlite.all('SELECT x FROM t ORDER BY rowid') as { x: number }[]
    expect(rows.map(({ x }) => x)).toEqual(numbers)
    await commits.idle()
  })

  it('lets one piece fail without the others', async () => {
    const store = sqliteStore(newPath())
    const names = ['a', 'b', 'c']
    const leases = await Promise.all(names.map((name) => store.acquire(name, { owner: 'test' })))
    await store.append('b', 1, [sample.intent('t', 'call')])
    const appends = leases.map(({ conversation, epoch }) =>
      store.append(conversation, epoch, [sample.note('t', 'n'), sample.intent('t', 'call')]),
    )
    const [a, b, c] = await Promise.allSettled(appends)
    expect(b).toMatchObject({ status: 'rejected', reason: { code: 'E_DUPLICATE_ENTRY' } })
    expect([a?.status, c?.status]).toEqual(['fulfilled', 'fulfilled'])
    const lengths = await Promise.all(
      names.map(async (name) => (await allEntries(store, name)).length),
    )
    expect(lengths).toEqual([2, 1, 2])
    await store.close()
  })

  it('stores what fits when another piece fills the disk', async () => {
    const database = new Database(newPath())
    const store = sqliteStore(newPath(), { database })
    const names = ['a', 'b', 'c']
    await Promise.all(names.map((name) => store.acquire(name, { owner: 'test' })))
    const { page_count: pages } = database.prepare('PRAGMA page_count').get([]) as {
      page_count: number
    }
    database.exec(`PRAGMA max_page_count = ${pages + 4}`)
    const appends = names.map((name) => {
      const content = name === 'b' ? 'x'.repeat(200_000) : 'small'
      return store.append(name, 1, [sample.message('t', 'm', content)])
    })
    const [a, b, c] = await Promise.allSettled(appends)
    expect(b).toMatchObject({ status: 'rejected', reason: { data: { reason: 'full' } } })
    expect([a?.status, c?.status]).toEqual(['fulfilled', 'fulfilled'])
    for (const name of ['a', 'c']) expect(await allEntries(store, name)).toHaveLength(1)
    expect(await allEntries(store, 'b')).toEqual([])
    await store.close()
  })

  it('finishes what is under way before it closes', async () => {
    const path = newPath()
    const store = sqliteStore(path)
    await store.acquire('c', { owner: 'test' })
    const append = store.append('c', 1, [sample.note('t', 'n')])
    await Promise.resolve()
    const outcome = append.then(
      () => 1,
      () => 0,
    )
    await store.close()
    const again = sqliteStore(path)
    expect(await allEntries(again, 'c')).toHaveLength(await outcome)
    await again.close()
  })
})
