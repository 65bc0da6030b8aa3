import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { sweepSpool } from '../../store/audit/sweep-spool.ts'
import { storeConformance } from '../../testing/store/store-conformance.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { sqliteStore } from './sqlite-store.ts'

let folder: string
let files = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('sqliteStore', () => {
  const checks = storeConformance((options) => {
    const path = join(folder, `${++files}.db`)
    return { store: sqliteStore(path, options), again: () => sqliteStore(path, options) }
  })
  for (const { name, run } of checks) it(name, run)

  it('brings a spool that lies beside its file, for everything that is larger', async () => {
    const path = join(folder, 'with-spool.db')
    const store = sqliteStore(path)
    const spool = store.spool as SpoolStore
    expect(spool.durable).toBe(true)
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const large = await spool.write('line\n'.repeat(50_000))
    const results = sample.artifact(large.digest, large.byteLength)
    await store.append('c', epoch, [sample.settlement('t', 'call', { results })])
    expect(existsSync(`${path}.spool`)).toBe(true)
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])

    const other = sqliteStore(join(folder, 'imported.db'))
    const report = await other.import(store.export('c'))
    expect(report).toEqual({ conversation: 'c', entries: 1, artifacts: 1 })
    expect((await other.verify({ conversation: 'c' })).faults).toEqual([])

    await store.delete('c')
    expect(await sweepSpool(store, spool, { graceMs: 0 })).toMatchObject({ deleted: 1 })
    await other.close()
    await store.close()
  })

  it('leaves everything in its file when it is closed, so that a copy of that file is a copy of the store', async () => {
    for (let round = 0; round < 5; round++) {
      const path = join(folder, `closed-${round}.db`)
      const store = sqliteStore(path)
      const { epoch } = await store.acquire('c', { owner: 'test' })
      await store.append('c', epoch, [sample.settlement('t', 'call')])
      await store.close()
      expect(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0).toBe(0)
      const copy = join(folder, `copy-${round}.db`)
      writeFileSync(copy, readFileSync(path))
      const copied = sqliteStore(copy)
      expect(await copied.conversations()).toMatchObject([{ id: 'c', length: 1 }])
      await copied.close()
    }
  })

  it('has every commit synced, whatever the database was opened with', async () => {
    const path = join(folder, 'synced.db')
    const database = new Database(path)
    database.exec('PRAGMA synchronous = OFF')
    const store = sqliteStore(path, { database })
    await store.acquire('c', { owner: 'test' })
    const { synchronous } = database.prepare('PRAGMA synchronous').get([]) as Record<
      string,
      unknown
    >
    const { journal_mode: journal } = database.prepare('PRAGMA journal_mode').get([]) as Record<
      string,
      unknown
    >
    expect([synchronous, journal]).toEqual([2, 'wal'])
    await store.close()
    database.close()
  })

  it('finds edited and missing bytes of artifacts on its spool', async () => {
    const path = join(folder, 'edited-spool.db')
    const store = sqliteStore(path)
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const large = await (store.spool as SpoolStore).write('line\n'.repeat(50_000))
    const results = sample.artifact(large.digest, large.byteLength)
    await store.append('c', epoch, [sample.settlement('t', 'call', { results })])
    const [file] = readdirSync(`${path}.spool`, { recursive: true, encoding: 'utf8' })
      .map((name) => join(`${path}.spool`, name))
      .filter((name) => statSync(name).size === large.byteLength)
    const bytes = readFileSync(file as string)
    bytes[123_456] = 88
    writeFileSync(file as string, bytes)
    const named = async () =>
      (await sqliteStore(path).verify({ conversation: 'c' })).faults.map(({ fault, part, id }) => ({
        fault,
        part,
        id,
      }))
    expect(await named()).toEqual([{ fault: 'edited', part: 'spool', id: large.digest }])
    rmSync(file as string)
    expect(await named()).toEqual([{ fault: 'deleted', part: 'spool', id: large.digest }])
    await store.close()
  })
})
