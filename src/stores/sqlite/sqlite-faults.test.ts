import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { Store } from '../../store/store.ts'
import { allEntries } from '../../testing/store/store-check.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { migrate } from './schema.ts'
import { sqliteOver } from './sqlite-database.ts'
import { sqliteStore } from './sqlite-store.ts'

let folder: string
let files = 0
const newPath = () => join(folder, `${++files}.db`)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A store with one conversation of a few entries. */
async function filled(
  path: string,
  entries = 3,
  busyTimeoutMs = 100,
): Promise<{ store: Store; epoch: number }> {
  const store = sqliteStore(path, { busyTimeoutMs })
  const { epoch } = await store.acquire('c', { owner: 'test' })
  for (let i = 0; i < entries; i++) {
    await store.append('c', epoch, [sample.settlement('t', `call_${i}`)])
  }
  return { store, epoch }
}

const unavailable = (reason: string) => ({ code: 'E_STORE_UNAVAILABLE', data: { reason } })

describe('sqliteStore, when things go wrong', () => {
  it('keeps everything when the disk is full, and continues when there is room', async () => {
    const database = new Database(newPath())
    const store = sqliteStore('unused.db', { database })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, [sample.message('t', 'm1')])
    const { page_count: pages } = database.prepare('PRAGMA page_count').get([]) as {
      page_count: number
    }
    database.exec(`PRAGMA max_page_count = ${pages}`)
    const large = sample.message('t', 'm2', 'x'.repeat(100_000))
    await expect(store.append('c', epoch, [large])).rejects.toMatchObject(unavailable('full'))
    expect(await allEntries(store, 'c')).toHaveLength(1)
    database.exec('PRAGMA max_page_count = 100000')
    await store.append('c', epoch, [large])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
  })

  it('says so when the database is read-only', async () => {
    const path = newPath()
    const { store, epoch } = await filled(path)
    await store.close()
    const database = new Database(path)
    const reading = sqliteStore(path, { database })
    expect(await allEntries(reading, 'c')).toHaveLength(3)
    database.exec('PRAGMA query_only = ON')
    const append = reading.append('c', epoch, [sample.note('t', 'n')])
    await expect(append).rejects.toMatchObject(unavailable('read-only'))
    expect(await allEntries(reading, 'c')).toHaveLength(3)
    await reading.close()
  })

  it('waits for a lock without blocking, then gives up and loses nothing', async () => {
    const path = newPath()
    // Long enough that a busy machine is not taken for a lock that stays.
    const { store, epoch } = await filled(path, 3, 1_000)
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    let ticks = 0
    const ticking = setInterval(() => ticks++, 5)
    const append = store.append('c', epoch, [sample.note('t', 'n')])
    await expect(append).rejects.toMatchObject(unavailable('locked'))
    clearInterval(ticking)
    expect(ticks).toBeGreaterThan(1)
    expect(await allEntries(store, 'c')).toHaveLength(3)
    setTimeout(() => other.exec('ROLLBACK'), 20)
    await store.append('c', epoch, [sample.note('t', 'n')])
    expect(await allEntries(store, 'c')).toHaveLength(4)
    await store.close()
  })

  it('waits while another connection has locked the file', async () => {
    const path = newPath()
    const other = new Database(path)
    other.exec('CREATE TABLE theirs (x); BEGIN EXCLUSIVE')
    const store = sqliteStore(path, { busyTimeoutMs: 2000 })
    const listing = store.conversations()
    setTimeout(() => other.exec('COMMIT'), 100)
    expect(await listing).toEqual([])
    await store.close()
  })

  it('refuses a spool that would not outlive the process', () => {
    const make = () => sqliteStore(newPath(), { spool: memorySpool() })
    expect(make).toThrow('`spool` must be durable')
  })

  it('names a corrupt page', async () => {
    const path = newPath()
    const { store } = await filled(path, 200)
    await store.close()
    const database = new Database(path)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    const size = statSync(path).size
    const file = openSync(path, 'r+')
    for (let page = 4096 * 4; page < size; page += 4096) {
      writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page)
    }
    closeSync(file)
    const damaged = sqliteStore(path)
    await expect(allEntries(damaged, 'c')).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' })
    await damaged.close()
  })

  it('refuses a file that is not a database, is cut off, or cannot exist', async () => {
    const text = newPath()
    writeFileSync(text, 'this is a diary and not a database\n'.repeat(100))
    const diary = sqliteStore(text)
    await expect(diary.conversations()).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' })

    const path = newPath()
    const { store } = await filled(path, 50)
    await store.close()
    const database = new Database(path)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    truncateSync(path, 4096 * 3)
    const short = sqliteStore(path)
    await expect(allEntries(short, 'c')).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' })

    const nowhere = sqliteStore(join(folder, 'no such folder', 'x.db'))
    await expect(nowhere.conversations()).rejects.toMatchObject(unavailable('cannot-open'))
    for (const wrong of ['', ':memory:', 'file:x?mode=memory']) {
      expect(() => sqliteStore(wrong)).toThrow('must be the path of a file')
    }
  })

  it('refuses a database from a newer version and leaves it as it is', async () => {
    const path = newPath()
    await (await filled(path)).store.close()
    const database = new Database(path)
    database.exec('UPDATE bobbin_schema SET version = 99')
    const newer = sqliteStore(path)
    await expect(newer.acquire('x', { owner: 'test' })).rejects.toMatchObject({
      code: 'E_STORE_TOO_NEW',
      data: { found: 99, supported: 9 },
    })
    expect(
      database.prepare('SELECT count(*) AS n FROM bobbin_conversations').get([]),
    ).toMatchObject({
      n: 1,
    })
  })

  it('says that it is closed', async () => {
    const { store, epoch } = await filled(newPath())
    await store.close()
    await store.close()
    const append = store.append('c', epoch, [sample.note('t', 'n')])
    await expect(append).rejects.toMatchObject(unavailable('closed'))
  })

  it('leaves a database open that it was given', async () => {
    const database = new Database(newPath())
    const store = sqliteStore(newPath(), { database })
    await store.acquire('c', { owner: 'test' })
    await store.close()
    const count = database.prepare('SELECT count(*) AS n FROM bobbin_conversations').get([])
    expect(count).toMatchObject({ n: 1 })
    await expect(store.conversations()).rejects.toMatchObject(unavailable('closed'))
  })

  it('keeps its locks when this process opens the same file again', async () => {
    const path = newPath()
    const { store, epoch } = await filled(path)
    const second = sqliteStore(path)
    expect(await allEntries(second, 'c')).toHaveLength(3)
    // The last process to close a file deletes its log: another process must see that it is not the last.
    const visit = `const db = new (require('libsql'))(process.argv[1])
      db.prepare('SELECT count(*) FROM bobbin_entries').get([])
      db.close()`
    execFileSync(process.execPath, ['-e', visit, path], { cwd: process.cwd() })
    expect(existsSync(`${path}-shm`)).toBe(true)
    await store.append('c', epoch, [sample.note('t', 'n')])
    await second.close()
    await store.close()
    const visitor = sqliteStore(path)
    expect(await allEntries(visitor, 'c')).toHaveLength(4)
    await visitor.close()
  })

  it('keeps the file to its owner', async () => {
    const path = newPath()
    const { store } = await filled(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
    await store.close()
  })
})

describe('migrate', () => {
  const names = (database: InstanceType<typeof Database>) =>
    (
      database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]) as {
        name: string
      }[]
    )
      .map(({ name }) => name)
      .sort()

  it('runs the steps that a database lacks, once', () => {
    const database = new Database(newPath())
    const sqlite = sqliteOver(database, 'array')
    const steps = ['CREATE TABLE one (x)', 'CREATE TABLE two (x)']
    migrate(sqlite, steps.slice(0, 1))
    migrate(sqlite, steps)
    migrate(sqlite, steps)
    expect(names(database)).toEqual(['bobbin_schema', 'one', 'two'])
  })

  it('undoes a step that fails', () => {
    const database = new Database(newPath())
    const sqlite = sqliteOver(database, 'array')
    migrate(sqlite, ['CREATE TABLE one (x)'])
    const broken = ['CREATE TABLE one (x)', 'CREATE TABLE two (x); CREATE TABLE two (x)']
    expect(() => migrate(sqlite, broken)).toThrow('already exists')
    expect(names(database)).toEqual(['bobbin_schema', 'one'])
    migrate(sqlite, ['CREATE TABLE one (x)'])
  })
})
