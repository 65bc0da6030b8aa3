import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { cli } from './in-process.ts'
import { buildPackage, INCIDENT } from './incident-agent.ts'
import { writeTerminalAgent } from './terminal-agent.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-interrupted-'))

beforeAll(async () => {
  await buildPackage()
  writeTerminalAgent(cwd)
}, 60_000)

afterAll(() => rmSync(cwd, { recursive: true, force: true }))

/** Starts a call that takes a minute, in a process of its own, and ends that with a signal. */
async function interrupt(store: string, signal: NodeJS.Signals) {
  const args = [inRoot('dist', 'cli', 'main.js'), 'run', 'charge', '--json', '--store', store]
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const wasUnderWay = output.includes('under way')
    output += text
    if (!wasUnderWay && output.includes('under way')) child.kill(signal)
  })
  const started = Date.now()
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output, took: Date.now() - started }
}

describe('a process that is killed while a call runs', () => {
  it('leaves what `bobbin recover` marks in doubt, and `bobbin calls` shows so', async () => {
    const store = ['--store', 'killed.db']
    expect((await interrupt('killed.db', 'SIGKILL')).code).toBe(null)

    const held = await cli(['recover', ...store], { cwd })
    expect(held.stderr).toMatch(
      /^bobbin: `[0-9a-f-]{36}` is in use by another process until .+ or run `bobbin recover --force` if that process is dead\.\n$/,
    )
    expect({ stdout: held.stdout, code: held.code }).toEqual({ stdout: '', code: 1 })
    const busy = await cli(['run', '--resume', 'last', 'hello', '--quiet', ...store], { cwd })
    expect(busy).toEqual({ stdout: '', stderr: held.stderr, code: 1 })

    const { stdout, stderr, code } = await cli(['recover', '--force', ...store], { cwd })
    expect(stdout).toContain('unknown whether it took effect')
    expect(stdout).toMatch(/^\? charge in-doubt /m)
    expect(stdout).toContain('That is in-doubt.')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })

    const calls = await cli(['calls', '--settlement', 'in-doubt', ...store], { cwd })
    expect(calls.stdout).toMatch(/^\? {2}.+ charge .+ in-doubt\n$/)
    expect(await cli(['verify', ...store], { cwd })).toMatchObject({ code: 0 })
    expect(await cli(['recover', ...store], { cwd })).toMatchObject({
      stdout: 'Nothing to recover.\n',
      code: 0,
    })
  }, 30_000)
})

describe('a process that is interrupted while a call runs', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends on %s at once, with the call settled and the store intact',
    async (signal) => {
      const { code, output, took } = await interrupt(`${signal}.db`, signal)
      const last: unknown = JSON.parse(output.trim().split('\n').at(-1) ?? '')
      expect(last).toMatchObject({
        type: 'outcome',
        status: 'aborted',
        toolCalls: [{ tool: 'charge', settlement: 'in-doubt' }],
      })
      expect(code).toBe(130)
      // Its handler still runs for a minute; the command does not wait for it.
      expect(took).toBeLessThan(20_000)
      expect(await cli(['verify', '--store', `${signal}.db`], { cwd })).toMatchObject({ code: 0 })
    },
    30_000,
  )
})

describe('a reader that stops early, as `head` does', () => {
  /** Runs a command, reads the first piece of its output, and goes away. */
  async function readFirst(args: readonly string[]) {
    const command = [inRoot('dist', 'cli', 'main.js'), ...args]
    const child = spawn(process.execPath, command, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdout.once('data', () => child.stdout.destroy())
    const [code] = (await once(child, 'exit')) as [number | null]
    return { code, stderr }
  }

  it('ends a turn that settles what it began', async () => {
    const store = ['--store', 'unread.db']
    expect(await readFirst(['run', ...INCIDENT, ...store])).toEqual({ code: 0, stderr: '' })
    const { stdout } = await cli(['verify', '--json', ...store], { cwd })
    const { ok, entries, sealed } = JSON.parse(stdout) as Record<string, unknown>
    expect({ ok, sealed }).toEqual({ ok: true, sealed: entries })
  }, 30_000)

  it('ends what would have written megabytes', async () => {
    const store = ['--store', 'unread.db']
    await cli(['run', 'read', '--quiet', ...store], { cwd })
    const started = Date.now()
    expect(await readFirst(['export', 'last', ...store])).toEqual({ code: 0, stderr: '' })
    // It ends by itself, not when it is made to after half a minute.
    expect(Date.now() - started).toBeLessThan(25_000)
  }, 60_000)
})
