import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { runNode } from '../../scripts/run-command.mjs'
import { buildPackage } from '../cli/incident-agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-line-'))
const MAIN = inRoot('dist', 'cli', 'main.js')
const env = { PATH: process.env['PATH'] }

beforeAll(buildPackage, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs `bobbin import` in 400 MB of memory and writes one line of this many megabytes to it. */
async function importLine(megabytes: number) {
  const args = ['--max-old-space-size=300', MAIN, 'import', '-', '--store', 'a.db']
  const child = spawn(process.execPath, args, { cwd: folder, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => (output += String(piece)))
  }
  // The command refuses the line before its end and closes its input.
  child.stdin.on('error', () => {})
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const piece = Buffer.alloc(1024 * 1024, 'a')
  child.stdin.write('{"')
  for (let written = 0; written < megabytes && child.exitCode === null; written++) {
    if (child.stdin.destroyed) break
    if (!child.stdin.write(piece)) {
      await Promise.race([new Promise((go) => child.stdin.once('drain', go)), ended])
    }
  }
  child.stdin.end()
  return { code: await ended, output }
}

describe('bobbin import', () => {
  it('refuses a line of 700 MB with one sentence and keeps nothing of it', async () => {
    const { code, output } = await importLine(700)
    expect(code).toBe(1)
    expect(output).toMatch(/line 1/i)
    expect(output).not.toMatch(/\n\s+at |heap out of memory/)
    const listed = await runNode(MAIN, ['verify', '--store', 'a.db'], { cwd: folder, env })
    expect(listed.output).not.toMatch(/held/)
  })
})
