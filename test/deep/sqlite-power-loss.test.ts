import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { allEntries } from '../../src/testing/store/store-check.ts'
import { storeSamples as sample } from '../../src/testing/store/store-samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-sectors-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What disks write in one go. */
const SECTOR = 512

interface Image {
  readonly database: Buffer
  readonly log: Buffer
}

/** The files as they lie there. After an append was acknowledged, all of the log is synced. */
const imageOf = (path: string): Image => ({
  database: readFileSync(path),
  log: readFileSync(`${path}-wal`),
})

/** Sectors of the one or of the other, pseudo-randomly, as when the power goes while some are written. */
function mixed(before: Buffer, after: Buffer, seed: number): Buffer {
  const length = Math.max(before.length, after.length)
  // A file that grew may have its new length before its new bytes.
  const left = Buffer.alloc(seed % 2 === 0 ? length : before.length)
  let state = seed * 2_654_435_761
  for (let at = 0; at < left.length; at += SECTOR) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3) >>> 0
    const source = state % 3 === 0 ? before : after
    left.set(source.subarray(at, Math.min(at + SECTOR, left.length)), at)
  }
  return left
}

/**
 * The disks that can be found between two images. A commit goes to the log alone; the log is only copied into
 * the database when it is synced, and only begun anew when the database is.
 */
function* between(before: Image, after: Image): Generator<Image> {
  for (let seed = 1; seed <= 3; seed++) {
    yield { database: before.database, log: mixed(before.log, after.log, seed) }
    if (before.database.equals(after.database)) continue
    yield { database: mixed(before.database, after.database, seed), log: after.log }
  }
}

describe('sqliteStore, when the power goes', () => {
  it('has every append that was acknowledged, whichever sectors were written, through checkpoints too', async () => {
    const path = join(folder, 'live.db')
    const database = new Database(path)
    const store = sqliteStore(path, { database })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    // A checkpoint every few commits, instead of every few hundred.
    database.exec('PRAGMA wal_autocheckpoint = 12')
    const images: Image[] = [imageOf(path)]
    for (let i = 0; i < 40; i++) {
      const blob = new TextEncoder().encode(`result ${i} `.repeat(i % 4 === 0 ? 3000 : 3))
      await store.append('c', epoch, [sample.settlement('t', `call_${i}`)], [blob])
      images.push(imageOf(path))
    }
    const { faults } = await store.verify({ conversation: 'c' })
    await store.close()
    database.close()
    expect(faults).toEqual([])

    let checkpoints = 0
    let restarts = 0
    let cases = 0
    const wrong: string[] = []
    for (const [at, after] of images.entries()) {
      const before = images[at - 1]
      if (before === undefined) continue
      if (!before.database.equals(after.database)) checkpoints++
      if (!before.log.subarray(0, 32).equals(after.log.subarray(0, 32))) restarts++
      for (const image of between(before, after)) {
        const found = await comeBack(image, `case-${++cases}.db`)
        const isWhole = found.entries === at - 1 || found.entries === at
        if (!isWhole || found.faults > 0) wrong.push(`append ${at}: ${JSON.stringify(found)}`)
      }
    }
    expect(wrong).toEqual([])
    expect([checkpoints > 5, restarts > 5, cases > 120]).toEqual([true, true, true])
  })
})

/** Starts on a disk as it was found, goes on, and says what is there. */
async function comeBack({ database, log }: Image, name: string) {
  const path = join(folder, name)
  writeFileSync(path, database)
  writeFileSync(`${path}-wal`, log)
  const store = sqliteStore(path)
  const entries = await allEntries(store, 'c')
  const { epoch } = await store.acquire('c', { owner: 'recovery', force: true })
  await store.append('c', epoch, [sample.note('t', 'goes on')])
  const { faults } = await store.verify({ conversation: 'c' })
  await store.close()
  for (const part of ['', '-wal', '-shm', '.spool']) {
    rmSync(path + part, { recursive: true, force: true })
  }
  return { entries: entries.length, faults: faults.length }
}
