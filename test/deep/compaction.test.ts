import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { prepare, recovered } from '../compaction/dying.ts'
import { judgeLife } from '../compaction/judge-life.ts'
import { bundledProcess } from '../crash/bundled-process.ts'
import type { CompactTask } from '../crash/compact-process.ts'
import { copyDatabase } from '../crash/remains.ts'

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

describe('a process that is killed while it compacts', () => {
  it('leaves the old history or the new one, at every step', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-compaction-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const program = await bundledProcess('compact-process')
    onTestFinished(() => program.remove())
    const start = join(folder, 'start.db')
    const first = sqliteStore(start)
    await prepare(first, [])
    await first.close()
    const play = async (killAt: number) => {
      const path = join(folder, `${killAt}.db`)
      copyDatabase(start, path)
      return { path, ...(await program.start({ path, killAt } satisfies CompactTask)) }
    }
    const undisturbed = await play(0)
    const told = undisturbed.lines.find(({ event }) => event === 'played')
    expect(told).toMatchObject({ problems: [] })
    const passed = told?.['passed'] as readonly string[]
    expect(
      passed.filter((point) => point.startsWith('after append c summary')).length,
    ).toBeGreaterThan(2)
    const found: Record<string, unknown> = {}
    for (let at = 1; at <= passed.length; at++) {
      const { path, end, errors } = await play(at)
      const store = sqliteStore(path)
      const wrong = await recovered(store, errors === '' ? [] : [errors])
      await store.close()
      if (end !== 'SIGKILL') wrong.push('Nothing killed it.')
      if (wrong.length > 0) found[`${at} ${passed[at - 1]}`] = wrong
    }
    expect(found).toEqual({})
  })
})
