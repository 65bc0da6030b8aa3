import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { buildPackage, INCIDENT } from '../cli/incident-agent.ts'
import { runInTerminal } from '../cli/pseudo-terminal.ts'

const bobbin = inRoot('dist', 'cli', 'main.js')
const cwd = mkdtempSync(join(tmpdir(), 'bobbin-cli-'))
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TERM: 'xterm-256color',
  USER: 'tester',
}

beforeAll(buildPackage, 60_000)

afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const piped = (args: readonly string[]) =>
  runCommand(process.execPath, [bobbin, ...args], { cwd, env })

describe('bobbin run, interrupted', () => {
  it('leaves the decision open on Ctrl-C, and asks again when the conversation is resumed', async () => {
    const asked = await runInTerminal([bobbin, 'run', ...INCIDENT], {
      cwd,
      env,
      typed: [{ when: '[l]ater: ', type: '\u0003' }],
    })
    expect(asked.code).toBe(130)
    const resumed = await runInTerminal([bobbin, 'run', ...INCIDENT, '--resume', 'last'], {
      cwd,
      env,
      typed: [{ when: '[l]ater: ', type: 'n\r' }],
    })
    expect(resumed.screen).toContain('Nothing was changed')
    expect(resumed.code).toBe(0)
  }, 60_000)

  it('ends a turn on Ctrl-C in the middle of a call, with the store intact', async () => {
    const { screen, code } = await runInTerminal([bobbin, 'run', ...INCIDENT], {
      cwd,
      env,
      typed: [{ when: ' lines', type: '\u0003' }],
    })
    expect(screen).toContain('aborted')
    expect(code).toBe(130)
    const again = await piped(['run', ...INCIDENT, '--quiet', 'Which hosts run 5.12.0?'])
    expect(again.code).toBe(0)
  }, 60_000)
})
