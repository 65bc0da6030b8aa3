import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { hasPseudoTerminal, runInTerminal } from './pseudo-terminal.ts'

const bobbin = inRoot('dist', 'cli', 'main.js')
const cwd = mkdtempSync(join(tmpdir(), 'bobbin-cli-'))
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TERM: 'xterm-256color',
  USER: 'tester',
}

beforeAll(async () => {
  const { code, output } = await ensureBuilt()
  if (code !== 0) throw new Error(output)
}, 60_000)

afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const piped = (args: readonly string[]) =>
  runCommand(process.execPath, [bobbin, ...args], { cwd, env })

// Windows and machines without util-linux have no `script` to make a terminal with.
describe.runIf(hasPseudoTerminal)('bobbin run in a terminal', () => {
  it('shows progress, asks for the approval, and says what to try next', async () => {
    const { screen, code } = await runInTerminal([bobbin, 'run'], {
      cwd,
      env,
      typed: [{ when: '[l]ater: ', type: 'y\r' }],
    })
    expect(screen).toContain('of 300,000 lines')
    expect(screen).toContain('kept out of the prompt')
    expect(screen).toContain('Allow')
    expect(screen).toContain('checkout is healthy now')
    expect(screen).toContain('What to try next:')
    expect(code).toBe(0)
  }, 60_000)

  it('heeds NO_COLOR', async () => {
    const plain = { ...env, NO_COLOR: '1' }
    const { screen } = await runInTerminal([bobbin, '--help'], { cwd, env: plain })
    expect(screen).toContain('run one turn')
    expect(screen).not.toContain('\u001b[')
  })
})

describe('bobbin run in a pipe', () => {
  it('runs through without asking, and writes no control characters', async () => {
    const { code, output } = await piped(['run'])
    expect(output).toContain('checkout is healthy now')
    expect(/[^\n\P{Cc}]/u.test(output)).toBe(false)
    expect(code).toBe(0)
  }, 30_000)

  it('writes the answer alone with --quiet, and JSON lines with --json', async () => {
    const quiet = await piped(['run', '--quiet', 'what is it'])
    expect(quiet.output.trim().split('\n')).toHaveLength(1)
    const json = await piped(['run', '--json', 'what is it'])
    const lines = json.output.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { type: string; status?: string })
    expect(events.at(-1)).toMatchObject({ type: 'outcome', status: 'completed' })
  }, 30_000)
})

describe('the agent file of the documentation', () => {
  it('loads, and its model is asked', async () => {
    const own = { ...env, OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:9' }
    // The page shows this very file; see test/reference.test.ts.
    const args = [bobbin, 'run', 'hello', '--agent', inRoot('examples', 'agent', 'agent.mjs')]
    const { code, output } = await runCommand(process.execPath, args, { cwd, env: own })
    expect(output).toContain('MODEL_FAILED')
    expect(code).toBe(1)
  }, 30_000)
})
