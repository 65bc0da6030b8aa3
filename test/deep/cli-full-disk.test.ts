import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { runNode } from '../../scripts/run-command.mjs'
import { buildPackage, INCIDENT } from '../cli/incident-agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-full-'))
const mount = (size: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0
const unmount = () => spawnSync('umount', ['-l', folder])

// Only Linux root may make a small disk; everywhere else the faults of the stores' own tests stand for it.
const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mount('1m')
if (canMount) unmount()

// Each in a process of its own: SQLite takes files of two disks for one when their numbers are alike.
const bobbin = (...args: readonly string[]) =>
  runNode(inRoot('dist', 'cli', 'main.js'), args, {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
  })

beforeAll(buildPackage, 60_000)

afterAll(() => {
  unmount()
  rmSync(folder, { recursive: true, force: true })
})

describe.runIf(canMount)('bobbin run on a full disk', () => {
  it.each(['100k', '400k', '3m', '12m'])(
    'of %s ends with a reason and an intact store',
    async (size) => {
      expect(mount(size)).toBe(true)
      try {
        const run = await bobbin('run', '--yes', ...INCIDENT)
        const lines = run.output.split('\n')
        expect(lines.filter((line) => /free some space/.test(line)).at(-1)).toMatch(
          /^(STORE_FAILED: |The output of `\w+` could not be stored \(ENOSPC\)\. |bobbin: )/,
        )
        expect(run.output).not.toContain('What to try next')
        expect(run.code).toBe(1)
        // As when somebody has freed some space: a full disk may not even let the store be opened.
        spawnSync('mount', ['-o', 'remount,size=64m', folder])
        const { output, code } = await bobbin('verify')
        expect({ output, code }).toMatchObject({ code: 0 })
      } finally {
        unmount()
      }
    },
    60_000,
  )
})
