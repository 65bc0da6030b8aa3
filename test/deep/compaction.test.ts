import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { judgeLife } from '../compaction/judge-life.ts'

describe('a conversation of 500 turns with summaries', () => {
  it.each(['anthropic-messages', 'openai-responses'])(
    'sends nothing that %s refuses, loses no fact, and can be proven',
    async (api) => {
      const folder = mkdtempSync(join(tmpdir(), 'bobbin-compaction-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      // Each runner opens the file anew.
      const open = () => {
        const store = sqliteStore(join(folder, 'c.db'))
        onTestFinished(() => store.close())
        return store
      }
      await judgeLife(api, 500, open, 40)
    },
  )
})
