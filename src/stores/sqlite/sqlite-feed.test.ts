import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { followChecks } from '../../../test/follow-checks.ts'
import type { Store } from '../../store/store.ts'
import { sqliteStore } from './sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-follow-'))
afterAll(() => rmSync(folder, { recursive: true }))
const folders = new Map<Store, string>()

followChecks({
  name: 'two connections to a SQLite file',
  async open() {
    const own = mkdtempSync(join(folder, 'db-'))
    const path = join(own, 'a.db')
    const store = sqliteStore(path)
    folders.set(store, `${path}.live`)
    return [store, sqliteStore(path)]
  },
  leftovers: (store) => readdirSync(folders.get(store) ?? ''),
})
