import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { storeConformance } from '../../testing/store-conformance.ts'
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
})
