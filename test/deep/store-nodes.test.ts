import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { installNode, nodeLines } from './node-lines.ts'

const runsHere = process.platform === 'linux' && process.arch === 'x64'
const SCRIPT = `
const [, , folder, sqlite, testing] = process.argv
const { sqliteStore } = await import(sqlite)
const { storeConformance } = await import(testing)
let files = 0
const failed = []
const checks = storeConformance((options) => {
  const path = folder + '/' + process.version + '-' + ++files + '.db'
  return { store: sqliteStore(path, options), again: () => sqliteStore(path, options) }
})
for (const { name, run } of checks) await run().catch((error) => failed.push([name, String(error)]))
process.stdout.write(JSON.stringify({ native: !!process.getBuiltinModule('node:sqlite'), files, failed }))
`

describe.runIf(runsHere)('sqliteStore on Node lines that have node:sqlite (on linux-x64)', () => {
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bobbin-nodes-'))
    writeFileSync(join(folder, 'conformance.mjs'), SCRIPT)
    await ensureBuilt()
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each(nodeLines)('conforms on Node %s', async (version) => {
    const node = await installNode(version)
    const built = (name: string) => pathToFileURL(inRoot('dist', name, 'index.js')).href
    const args = [join(folder, 'conformance.mjs'), folder, built('stores/sqlite'), built('testing')]
    const { stdout } = await runCommand(node, ['--no-warnings', ...args])
    const report: { native: boolean; files: number; failed: unknown[] } = JSON.parse(stdout)
    expect({ ...report, files: report.files > 30 }).toEqual({
      native: true,
      files: true,
      failed: [],
    })
  })
})
