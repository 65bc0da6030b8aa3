import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import type { ProcessIo } from '../../src/cli/terminal/io.ts'
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { storeSamples as sample } from '../../src/testing/store/store-samples.ts'

/** Clears the screen, names the window, colours, turns the text around, and forges a line. */
const ESCAPES = '\u001b[2J\u001b]0;x\u0007\u009b35m\u202e'
const HOSTILE = `${ESCAPES}\r\nforged`
const CONVERSATION = `evil${HOSTILE}`
const HELD = `held${HOSTILE}`
const CALL = `call${HOSTILE}`
const TOOL = `tool${HOSTILE}`
/** An answer and the words of the person may have lines of their own. */
const ANSWER = `answer${ESCAPES}`

const root = mkdtempSync(join(tmpdir(), 'bobbin-hostile-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let cwd: string
beforeEach(async () => {
  cwd = mkdtempSync(join(root, 'case-'))
  writeFileSync(
    join(cwd, 'agent.mjs'),
    `export const tools = []
    export const executor = async () => ({ answer: ${JSON.stringify(ANSWER)} })`,
  )
  const result = new TextEncoder().encode(`a result${HOSTILE}\n`)
  const sha256 = createHash('sha256').update(result).digest('hex')
  const store = sqliteStore(join(cwd, 'x.db'))
  for (const [id, leaseMs] of [
    [CONVERSATION, 1],
    [HELD, 60_000],
  ] as const) {
    const { epoch } = await store.acquire(id, { owner: `owner${HOSTILE}`, leaseMs })
    const results = sample.artifact(sha256, result.length)
    const own = { tool: TOOL, args: { q: HOSTILE }, results }
    const entries = [
      sample.turnStart('t'),
      sample.message('t', 'm', `message${HOSTILE}`),
      sample.settlement('t', CALL, own),
      sample.settlement('t', `${CALL} 2`, { ...own, settlement: 'in-doubt', results: HOSTILE }),
      sample.note('t', `note${HOSTILE}`),
    ]
    await store.append(id, epoch, entries, [result])
  }
  await store.close()
})

/** Every command that shows something of a store, with what it is given. */
const COMMANDS: readonly (readonly string[])[] = [
  ['calls'],
  ['calls', '--conversation', 'evil'],
  ['calls', 'tree'],
  ['calls', 'follow'],
  ['conversations'],
  ['calls', 'show', CALL, '--conversation', 'evil'],
  ['calls', 'show', `${CALL} 2`, '--conversation', 'evil'],
  ['calls', 'show', `unknown${ESCAPES}`],
  ['calls', '--tool', TOOL],
  ['artifact', 'head', CALL],
  ['artifact', 'grep', CALL, 'result'],
  ['verify'],
  ['verify', `unknown${ESCAPES}`],
  ['verify', '--seal', ESCAPES, 'evil'],
  ['export', 'evil', '-o', 'out.jsonl'],
  ['import', 'out.jsonl'],
  ['import', 'out.jsonl', '--as', `new${ESCAPES}`],
  ['import', `missing${ESCAPES}`],
  ['follow', 'evil'],
  ['stop', 'evil'],
  ['undo', CALL, '-c', 'evil'],
  ['recover'],
  ['recover', 'evil'],
  ['recover', 'held'],
  ['run', 'a question', '--resume', 'evil'],
  ['run', 'a question', '--resume', 'held'],
  ['run', '--quiet', 'a question', '--resume', 'evil'],
  ['run', `a question${ESCAPES}`],
  ['chat', '--resume', 'evil'],
  ['gc', '--delete', 'evil'],
  [ESCAPES],
  ['help', ESCAPES],
  ['calls', `--${ESCAPES}`],
]

/** What the command line itself sends to a terminal: colours, and the end of lines that change. */
const OWN = /\u001b\[(?:1|2|22|31|32|33|36|39)m|\r\u001b\[\d+A\u001b\[0J/g
const CONTROLS = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

async function run(args: readonly string[], isTTY: boolean): Promise<string> {
  let written = ''
  const stream = {
    isTTY,
    columns: 100,
    rows: 24,
    write: (data: string | Uint8Array) => (written += Buffer.from(data).toString()),
  }
  const io: ProcessIo = {
    stdout: stream,
    stderr: stream,
    stdin: Readable.from([]),
    env: {},
    cwd,
    signal: AbortSignal.timeout(args.includes('follow') ? 700 : 20_000),
  }
  await runCli(args, io)
  return written
}

const at = (args: readonly string[]) =>
  args[0]?.startsWith('\u001b') || args[0] === 'help' ? args : [...args, '--store', 'x.db']

describe('a terminal', () => {
  it.each(COMMANDS.map((args) => [JSON.stringify(args.join(' ')), args] as const))(
    'is sent nothing to obey by %s',
    async (_, args) => {
      if (args[0] === 'import') {
        await run(['export', 'evil', '-o', 'out.jsonl', '--store', 'x.db'], false)
        await run(['gc', '--delete', 'evil', '--store', 'x.db'], false)
      }
      const shown = (await run(at(args), true)).replaceAll(OWN, '')
      if (!args.includes('follow')) expect(shown).not.toBe('')
      expect(CONTROLS.exec(shown)).toBeNull()
      expect(shown).not.toMatch(/^forged/m)
    },
  )

  it.each([
    ['calls'],
    ['calls', 'tree'],
    ['conversations'],
    ['calls', 'show', CALL, '--conversation', 'evil'],
    ['verify'],
    ['gc', '--delete', 'evil'],
    ['recover', 'held'],
    ['run', 'a question', '--resume', 'evil'],
  ])('is sent JSON that holds no control character by %s %s', async (...args) => {
    const shown = await run(at([...args, '--json']), true)
    expect(CONTROLS.exec(shown)).toBeNull()
    for (const line of shown.trim().split('\n')) JSON.parse(line)
    expect(shown).toMatch(/\\u001b\[2J|\\u\{1B\}\[2J/)
  })

  it('shows an artifact that a pipe receives exactly', async () => {
    const raw = ['artifact', 'raw', CALL, '--store', 'x.db']
    expect(await run(raw, false)).toBe(`a result${HOSTILE}\n`)
    expect(CONTROLS.exec((await run(raw, true)).replaceAll('\r\n', '\n'))).toBeNull()
  })
})
