import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { allEntries } from '../../src/testing/store/store-check.ts'

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-kill-'))
  await ensureBuilt()
  writeFileSync(join(folder, 'writer.mjs'), WRITER)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Appends as fast as it can and says so each time an append was acknowledged. */
const WRITER = `
const [, , entry, path] = process.argv
const { sqliteStore } = await import(entry)
const store = sqliteStore(path)
const { epoch } = await store.acquire('c', { owner: String(process.pid), force: true })
for (let i = 0; i < 100000; i++) {
  const data = { level: 'info', code: 'n', message: 'x'.repeat(i % 3000) }
  const entries = [{ kind: 'note', turnId: 't', data }]
  if (i % 5 === 4) entries.push({ kind: 'turn-end', turnId: 't', data: { status: 'completed' } })
  const stored = await store.append('c', epoch, entries)
  process.stdout.write(stored.seq + entries.length - 1 + '\\n')
}
`

/** Runs a writer, kills it after a while, and gives the last entry that it was sure of. */
function killedWriter(path: string, afterMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const entry = pathToFileURL(inRoot('dist', 'stores', 'sqlite', 'index.js')).href
    const child = spawn(process.execPath, [join(folder, 'writer.mjs'), entry, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output === '') setTimeout(() => child.kill('SIGKILL'), afterMs)
      output += text
    })
    child.on('error', reject)
    child.on('close', () => {
      const whole = output.slice(0, output.lastIndexOf('\n'))
      resolve(Number(whole.split('\n').at(-1)))
    })
  })
}

describe('sqliteStore, when its process is killed', () => {
  it('has everything that was acknowledged, and nothing by halves', async () => {
    const path = join(folder, 'x.db')
    let before = 0
    for (let round = 0; round < 25; round++) {
      const acknowledged = await killedWriter(path, 5 + ((round * 37) % 120))
      expect(acknowledged).toBeGreaterThan(before)
      const store = sqliteStore(path)
      const entries = await allEntries(store, 'c')
      expect(entries.length).toBeGreaterThanOrEqual(acknowledged)
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1))
      expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
      await store.close()
      before = entries.length
    }
  })
})
