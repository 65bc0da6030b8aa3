import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isThorough } from '../../../test/runs.ts'
import { allEntries } from '../../testing/store/store-check.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { sqliteStore } from './sqlite-store.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Bytes that a dying disk may leave behind: predictable, and nothing that SQLite wrote. */
function garbage(length: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 17) % 251))
}

describe('sqliteStore, after the power went', () => {
  it('has every append that was acknowledged, wherever the log beyond it is torn', async () => {
    const path = join(folder, 'live.db')
    const store = sqliteStore(path)
    const { epoch } = await store.acquire('c', { owner: 'test' })
    // How long the write-ahead log was when each append was acknowledged: so much was synced.
    const synced: number[] = []
    for (let i = 0; i < 12; i++) {
      await store.append('c', epoch, [sample.settlement('t', `call_${i}`)])
      synced.push(statSync(`${path}-wal`).size)
    }
    const database = readFileSync(path)
    const log = readFileSync(`${path}-wal`)
    await store.close()

    let cases = 0
    for (const [i, safe] of synced.entries()) {
      const next = synced[i + 1] ?? log.length
      for (const share of [0, 0.3, 0.5, 0.99]) {
        const cut = safe + Math.floor((next - safe) * share)
        const tails = [Buffer.alloc(0), garbage(log.length - cut, i), Buffer.alloc(5000)]
        // A sample takes each cut with one of them in turn.
        for (const tail of isThorough ? tails : tails.slice(cases % 3, (cases % 3) + 1)) {
          const torn = join(folder, `torn-${++cases}.db`)
          writeFileSync(torn, database)
          writeFileSync(`${torn}-wal`, Buffer.concat([log.subarray(0, cut), tail]))
          const recovered = sqliteStore(torn)
          const entries = await allEntries(recovered, 'c')
          expect(entries.length).toBeGreaterThanOrEqual(i + 1)
          expect((await recovered.verify({ conversation: 'c' })).faults).toEqual([])
          const lease = await recovered.acquire('c', { owner: 'recovery', force: true })
          await recovered.append('c', lease.epoch, [sample.note('t', 'continues')])
          await recovered.close()
        }
      }
    }
    expect(cases).toBe(isThorough ? 144 : 48)
  })

  it('comes back from a copy of its files at any moment between two appends', async () => {
    const path = join(folder, 'copied.db')
    const store = sqliteStore(path)
    const { epoch } = await store.acquire('c', { owner: 'test' })
    for (let i = 0; i < 10; i++) {
      await store.append('c', epoch, [sample.intent('t', `call_${i}`)])
      const copy = join(folder, `copy-${i}.db`)
      copyFileSync(path, copy)
      copyFileSync(`${path}-wal`, `${copy}-wal`)
      const restored = sqliteStore(copy)
      expect(await allEntries(restored, 'c')).toHaveLength(i + 1)
      await restored.close()
    }
    await store.close()
  })
})
