import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { FeedEvent } from '../../src/store/feed/feed-event.ts'
import type { Store } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { cli } from './in-process.ts'

let cwd: string
let store: Store
let turn: Promise<{ readonly status: string }>

const wait = new Tool({
  name: 'wait',
  description: 'Waits.',
  inputSchema: z.object({ ms: z.number() }),
  effect: 'read',
  handler: ({ ms }, { signal, progress }) =>
    new Promise<string>((resolve, reject) => {
      progress('waits')
      const timer = setTimeout(() => resolve('waited'), ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(new Error('stopped'))
      })
    }),
})

const at = (...args: string[]) => cli([...args, '--store', join(cwd, 'agent.db')], { cwd })

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'bobbin-follow-'))
  store = sqliteStore(join(cwd, 'agent.db'))
  const model = scriptedModel([
    [{ text: 'I wait.' }, { call: 'wait', args: { ms: 1 } }],
    [{ text: 'Done.' }],
    [{ call: 'wait', args: { ms: 60_000 } }],
  ])
  const runner = new TurnRunner({ model, tools: [wait], store })
  await runner.run({ conversation: 'c', message: 'Wait\u001b[2J a moment.' })
  const handle = runner.run({ conversation: 'c', message: 'Wait a minute.' })
  turn = handle
  for await (const { type } of handle) if (type === 'progress') break
})
afterAll(async () => {
  await store.close()
  rmSync(cwd, { recursive: true })
})

describe('bobbin follow and bobbin stop', () => {
  it('shows a turn of another store object until it is stopped', async () => {
    const following = at('follow', 'c')
    const events = at('follow', 'c', '--json', '--after', '2.0')
    const stopped = await at('stop', 'c')
    expect(stopped.stdout).toMatch(/^Turn \S+ was asked to stop\.\n$/)
    expect(await turn).toMatchObject({ status: 'aborted' })
    const { stdout, code } = await following
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u001b')
    const lines = stdout.split('\n').filter((line) => line !== '')
    expect(lines).toMatchObject([
      expect.stringContaining('a moment.'),
      '  I wait.',
      expect.stringMatching(/^\S wait /),
      '  Done.',
      'completed',
      '> Wait a minute.',
      expect.stringMatching(/^. wait.* aborted/),
      expect.stringContaining('  '),
      expect.stringMatching(/^aborted: /),
    ])
    const told = (await events).stdout.trim().split('\n')
    const [first, last] = [told.at(0), told.at(-1)].map(
      (line) => JSON.parse(line ?? '') as FeedEvent,
    )
    expect(first?.position).toBe('3.0')
    expect(last).toMatchObject({ type: 'turnEnd', status: 'aborted' })
  })

  it('says that nothing runs', async () => {
    expect(await at('stop', 'c')).toEqual({ stdout: 'No turn runs in c.\n', stderr: '', code: 0 })
    expect((await at('stop', 'c', '--json')).stdout).toBe('null\n')
  })

  it('refuses what cannot be followed, with a sentence', async () => {
    expect(await at('follow')).toMatchObject({ code: 2 })
    expect(await at('follow', 'x')).toMatchObject({ code: 2 })
    const garbled = await at('follow', 'c', '--after', 'x')
    expect([garbled.code === 0, garbled.stderr]).toEqual([
      false,
      expect.stringContaining('is not a position'),
    ])
  })
})
