import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { sqliteStore } from './sqlite-store.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A file as the first version wrote it, with the conversations `older` and `newest`. */
function fileOfVersion1(name: string): string {
  const path = join(folder, name)
  const database = new Database(path)
  database.exec(readFileSync(new URL('./fixtures/version-1.sql', import.meta.url), 'utf8'))
  database.close()
  return path
}

describe('a file of the first version', () => {
  it('keeps everything that it holds', async () => {
    const store = sqliteStore(fileOfVersion1('kept.db'))
    for (const [conversation, entries] of [
      ['older', 5],
      ['newest', 4],
    ] as const) {
      expect(await store.verify({ conversation })).toMatchObject({ faults: [], entries })
    }
    expect(await store.openGates()).toHaveLength(2)
    await store.close()
  })

  it('gives no position twice from then on', async () => {
    const path = fileOfVersion1('counted.db')
    const first = sqliteStore(path)
    const { next = '' } = await first.find({ limit: 9 })
    await first.delete('newest')
    await first.close()

    const store = sqliteStore(path)
    const { epoch } = await store.acquire('older', { owner: 'test', force: true })
    await store.append('older', epoch, [sample.note('t2', 'one'), sample.note('t2', 'two')])
    const { entries } = await store.find({ after: next })
    expect(entries.map(({ entry }) => entry.seq)).toEqual([6, 7])
    expect(await store.verify({ conversation: 'older' })).toMatchObject({ faults: [] })
    await store.close()
  })
})
