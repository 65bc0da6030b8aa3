import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { inRoot } from '../../scripts/project.mjs'
import { VERSION } from '../../src/cli/version.ts'
import type { ConversationInfo } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { cli } from './in-process.ts'
import { buildPackage, INCIDENT } from './incident-agent.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-commands-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

interface Call {
  readonly id: string
  readonly tool: string
  readonly settlement: string
  readonly conversation: string
  readonly checksum: string
}

const jsonLines = <T>(text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T)

let calls: readonly Call[] = []
const idOf = (tool: string) => calls.find((call) => call.tool === tool)?.id ?? 'none'

describe('the commands, after one turn', () => {
  let turn = ''
  beforeAll(async () => {
    await buildPackage()
    turn = (await cli(['run', '--yes', ...INCIDENT], { cwd })).stdout
    calls = jsonLines<Call>((await cli(['calls', '--json'], { cwd })).stdout)
  }, 60_000)

  it('runs through without asking, and writes no control characters', () => {
    expect(turn).toContain(
      '? Allow roll_back {"service":"checkout","to":"5.11.3"}: approved by --yes',
    )
    expect(turn).toContain('checkout is healthy now')
    expect(turn).toContain('What to try next:')
    expect(/[^\n\P{Cc}]/u.test(turn)).toBe(false)
  })

  it('writes the answer alone with --quiet, and events and the outcome with --json', async () => {
    const quiet = await cli(['run', '--quiet', 'what is it', ...INCIDENT], { cwd })
    expect(quiet.stdout.trim().split('\n')).toHaveLength(1)
    const { stdout } = await cli(['run', '--json', 'what is it', ...INCIDENT], { cwd })
    const events = jsonLines<{ type: string; status?: string }>(stdout)
    expect(events[0]).toMatchObject({ type: 'message' })
    expect(events.at(-1)).toMatchObject({ type: 'outcome', status: 'completed' })
  })

  it('lists calls; a repeated and refused one stands out', async () => {
    const { stdout } = await cli(['calls'], { cwd })
    const refused = stdout.split('\n').filter((line) => line.includes('refused'))
    expect(refused).toHaveLength(1)
    expect(refused[0]).toContain('×3')
    expect(stdout).toContain('26.8 MB kept out')
  })

  it('filters by settlement, tool and checksum', async () => {
    const [refused] = calls.filter(({ settlement }) => settlement === 'refused')
    const by = async (...filter: string[]) =>
      jsonLines<Call>((await cli(['calls', '--json', ...filter], { cwd })).stdout)
    expect(await by('--settlement', 'refused')).toMatchObject([{ tool: 'check_health' }])
    expect(await by('--tool', 'read_log')).toHaveLength(1)
    expect(await by('--checksum', refused?.checksum ?? '')).toHaveLength(3)
  })

  it('lists conversations, the one used last first, and filters them by metadata', async () => {
    const store = sqliteStore(join(cwd, '.bobbin', 'agent.db'))
    const [oldest] = await store.conversations({ orderBy: 'createdAt' })
    await store.setMeta(oldest?.id ?? '', { user: 'ada', size: 1 })
    await store.close()
    const by = async (...filter: string[]) =>
      jsonLines<ConversationInfo>(
        (await cli(['conversations', '--json', ...filter], { cwd })).stdout,
      )
    const all = await by()
    expect(all.length).toBeGreaterThan(1)
    expect(all.map(({ updatedAt }) => updatedAt)).toEqual(
      all.map(({ updatedAt }) => updatedAt).sort((a, b) => b - a),
    )
    expect(await by('--limit', '1')).toEqual(all.slice(0, 1))
    expect((await by('--order', 'id')).map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort())
    const found = await by('--meta', 'user=ada', '--meta', 'size=1', '--top-level')
    expect(found.map(({ id }) => id)).toEqual([oldest?.id])
    const { stdout } = await cli(['conversations', '--prefix', oldest?.id ?? ''], { cwd })
    expect(stdout).toContain('{"size":1,"user":"ada"}')
    const none = await cli(['conversations', '--meta', 'user=bob'], { cwd })
    expect([none.stdout, none.stderr]).toEqual(['', 'No conversations found.\n'])
    for (const wrong of [['--order', 'x'], ['--limit', '0'], ['--meta', 'x'], ['extra']]) {
      expect((await cli(['conversations', ...wrong], { cwd })).code).toBe(2)
    }
  })

  it('forks a conversation, whole or up to a turn', async () => {
    const [from] = jsonLines<ConversationInfo>(
      (await cli(['conversations', '--json', '--order', 'created', '--top-level'], { cwd })).stdout,
    ).slice(-1)
    const id = from?.id ?? ''
    const whole = await cli(['fork', id, '--to', 'branch'], { cwd })
    expect(whole.stdout).toBe(`Forked ${id} into branch: ${from?.length} entries\n`)
    expect((await cli(['verify', 'branch'], { cwd })).code).toBe(0)
    const listed = await cli(['conversations', '--prefix', 'branch'], { cwd })
    expect(listed.stdout).toContain(` fork of ${id}`)
    const [event] = jsonLines<{ readonly turnId: string; readonly position: string }>(
      (await cli(['follow', id, '--json'], { cwd })).stdout,
    )
    const upTo = ['fork', id, '--json', '--turn', event?.turnId ?? '']
    expect(JSON.parse((await cli(upTo, { cwd })).stdout)).toMatchObject({
      origin: { conversation: id },
    })
    const first = ['fork', id, '--json', '--position', event?.position ?? '']
    expect(JSON.parse((await cli(first, { cwd })).stdout)).toMatchObject({ origin: { length: 1 } })
    expect((await cli(['fork', id, '--turn', 'a', '--position', '1.0'], { cwd })).code).toBe(2)
    expect((await cli(['fork'], { cwd })).code).toBe(2)
  })

  it('shows one call by the beginning of its id, and draws the tree', async () => {
    const id = idOf('roll_back')
    const { stdout } = await cli(['calls', 'show', id.slice(0, 10)], { cwd })
    expect(stdout).toContain(id)
    expect(stdout).toContain('{"service":"checkout","to":"5.11.3"}')
    const tree = await cli(['calls', 'tree'], { cwd })
    expect(tree.stdout).toContain('└─ ✓')
    expect(tree.stdout).toContain('Why did checkout fail at noon')
  })

  it('shows how a result begins, and how to read more of it', async () => {
    const { stdout } = await cli(['calls', 'show', idOf('list_hosts')], { cwd })
    const [tool, settlement, args, result, first] = stdout.split('\n')
    expect([tool, settlement, args]).toEqual([
      'tool          list_hosts',
      'settlement    ok',
      'args          {}',
    ])
    expect(result).toMatch(/^result {8}table, \S+ KB, 4,861 lines, kept out of the prompt$/)
    expect(first?.trim()).toBe('host,region,service,version,cpu_percent,memory_gb')
    const short = idOf('list_hosts').slice(0, 12)
    expect(stdout).toContain(`npx bobbin-adk artifact head ${short} reads more of the result.`)
  })

  it('follows until it is interrupted', async () => {
    const signal = AbortSignal.timeout(300)
    const { code } = await cli(['calls', 'follow'], { cwd, signal })
    expect(code).toBe(0)
  })

  it.each([
    ['head', () => ['head', idOf('read_log'), '-n', '1'], /^0: 2026-03-14T06:00:00/],
    ['tail', () => ['tail', idOf('read_log'), '-n', '1'], /^299999: /],
    ['grep', () => ['grep', idOf('read_log'), 'pool exhausted', '--limit', '1'], /T12:00:07/],
    ['json', () => ['json', idOf('list_deploys'), '[2390].author'], /^"m.okafor"\n$/],
    ['json keys', () => ['json', idOf('list_deploys'), '[0]', '--keys'], /^id\nservice\n/],
    [
      'json where',
      () => ['json', idOf('list_deploys'), '--where', 'version equals 5.12.0', '--json'],
      /dep-2391/,
    ],
    ['md', () => ['md', idOf('read_runbook'), 'Payment pool exhausted'], /roll that deploy back/],
    ['table', () => ['table', idOf('list_hosts'), 'region', '--count'], /^1215: eu-west/m],
    [
      'table where',
      () => ['table', idOf('list_hosts'), '--where', 'version equals "5.12.0"', '--limit', '1'],
      /checkout-0000/,
    ],
    ['an artifact tool’s answer', () => ['head', idOf('artifact_json_get')], /"id": "dep-2391"/],
    ['raw', () => ['raw', idOf('list_hosts')], /^host,region,service/],
  ])('queries an artifact: %s', async (_title, args, expected) => {
    const { stdout, stderr, code } = await cli(['artifact', ...args()], { cwd })
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(expected)
  })

  it('answers a person with options, not with the tools of a model', async () => {
    const ask = (...args: string[]) =>
      cli(['artifact', 'json', idOf('list_deploys'), ...args], { cwd })
    expect((await ask()).stdout).toBe(
      '(this array is too large to show at once: use --keys and a longer path, or --start and --limit with this path)\n',
    )
    expect((await ask('--limit', '1')).stdout).toMatch(/; --cursor 'item:\S+' continues\]\n$/)
    const text = await cli(['artifact', 'json', idOf('read_runbook')], { cwd })
    expect(text.stderr).toContain('`bobbin artifact')
    expect(text.stderr).not.toContain('artifact_')
  })

  it('verifies every record', async () => {
    const { stdout, code } = await cli(['verify'], { cwd })
    expect(stdout).toMatch(/^✓ [0-9a-f-]{36} {2}\d+ entries, \d+ sealed\n {2}seal [0-9a-f]{64}\n/)
    expect(code).toBe(0)
  }, 30_000)

  it('recovers nothing when nothing was left', async () => {
    const { stdout, code } = await cli(['recover'], { cwd })
    expect({ stdout, code }).toEqual({ stdout: 'Nothing to recover.\n', code: 0 })
  })
})

describe('export, import and gc', () => {
  const store = ['--store', 'travel.db']

  beforeAll(async () => {
    const source = new URL('../../src/tools/tool.ts', import.meta.url).href
    writeFileSync(
      join(cwd, 'big.ts'),
      `import { Tool } from ${JSON.stringify(source)}
const inputSchema = { type: 'object', properties: {} } as const
export const tools = [new Tool({ name: 'big', description: 'Big.', inputSchema, effect: 'read',
  inline: false, handler: () => 'a line\\n'.repeat(20_000) })]
export const executor = async (ctx: { turnToolCalls: unknown[] }) =>
  ctx.turnToolCalls[0] ? { answer: 'done' } : { calls: [{ tool: 'big', args: {} }] }
`,
    )
    await cli(['run', 'go', '--quiet', '--agent', 'big.ts', ...store], { cwd })
  })

  it('carries a conversation with its outputs to another name, and it verifies there', async () => {
    const exported = await cli(['export', 'last', '-o', 'talk.jsonl', ...store], { cwd })
    expect(exported).toMatchObject({ code: 0, stderr: '' })
    const imported = await cli(['import', 'talk.jsonl', '--as', 'copy', ...store], { cwd })
    expect(imported).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await cli(['verify', 'copy', '--json', ...store], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ conversation: 'copy', ok: true, faults: [] })
    const [call] = jsonLines<Call>(
      (await cli(['calls', '--json', '-c', 'copy', ...store], { cwd })).stdout,
    )
    const tail = await cli(['artifact', 'tail', call?.id ?? '', '-n', '1', ...store], { cwd })
    expect(tail.stdout).toBe('19999: a line\n')
    const twice = await cli(['import', 'talk.jsonl', '--as', 'copy', ...store], { cwd })
    expect(twice.code).toBe(1)
    expect(twice.stderr).toContain('`copy`')
  })

  it('keeps what is referred to, and removes what is not', async () => {
    const once = await cli(['gc', '--delete', 'copy', '--grace', '0', '--json', ...store], { cwd })
    expect(JSON.parse(once.stdout)).toMatchObject({ conversations: ['copy'], deleted: 0, kept: 1 })
    const rest = await cli(['gc', '--delete', 'last', '--grace', '0', '--json', ...store], { cwd })
    expect(JSON.parse(rest.stdout)).toMatchObject({ deleted: 1, kept: 0 })
  })
})

describe('bobbin chat', () => {
  it('answers a pipe line by line in one conversation', async () => {
    const stdin = 'what is it\nwhat is this\n'
    const { stdout, code } = await cli(['chat', '--json', ...INCIDENT], { cwd, stdin })
    const outcomes = jsonLines<{ type: string; conversation: string }>(stdout).filter(
      ({ type }) => type === 'outcome',
    )
    expect(outcomes).toHaveLength(2)
    expect(outcomes[0]?.conversation).toBe(outcomes[1]?.conversation)
    expect(code).toBe(0)
  })
})

describe('bobbin chat, asked again', () => {
  const agent = (
    effect: string,
  ) => `import { Tool } from ${JSON.stringify(pathToFileURL(inRoot('dist', 'index.js')).href)}
  const look = new Tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' },
    effect: '${effect}', trust: 'first-party', handler: () => 'seen' })
  export const agent = {
    tools: [look],
    executor: async (ctx) => {
      const said = ctx.items.filter(({ type }) => type === 'message')
      const last = ctx.items.at(-1)
      if (last.type === 'message') return { calls: [{ tool: 'look', args: {} }] }
      return { answer: said.map(({ parts }) => parts[0].text).join(' | ') }
    },
  }\n`

  it('takes the last question back', async () => {
    writeFileSync(join(cwd, 'reader.mjs'), agent('read'))
    const stdin = '/regenerate\none\n/regenerate\n/regenerate two\nthree\n'
    const options = ['--agent', 'reader.mjs', '--store', 'again.db']
    const { stdout, stderr, code } = await cli(['chat', '--json', ...options], { cwd, stdin })
    expect(stderr).toContain('There is nothing to ask again yet.')
    const lines = jsonLines<{ type: string; text: string }>(stdout)
    const texts = lines.flatMap(({ type, text }) => (type === 'outcome' ? text : []))
    expect(texts).toEqual(['one', 'one', 'two', 'two | two | three'])
    expect(code).toBe(0)
  })

  it('refuses when calls may have changed something', async () => {
    writeFileSync(join(cwd, 'writer.mjs'), agent('write'))
    const options = ['--agent', 'writer.mjs', '--store', 'refused.db']
    const { stdout, stderr, code } = await cli(['chat', ...options], {
      cwd,
      stdin: 'one\n/regenerate\ntwo\n',
    })
    expect(stdout + stderr).toContain('Not asked again: look may have changed something')
    expect(stdout).toContain('one | one | two')
    expect(code).toBe(0)
  })
})

describe('an agent file', () => {
  const agent = `export const agent = {
    question: 'What is two and two?',
    tools: [],
    executor: async () => ({ answer: 'four' }),
  }\n`

  it.each(['own.mjs', 'own.ts'])('%s is run', async (name) => {
    const text = name.endsWith('.ts')
      ? agent.replace('async ()', 'async (): Promise<object>')
      : agent
    writeFileSync(join(cwd, name), text)
    const { stdout, stderr, code } = await cli(['run', '--quiet', '--agent', name], { cwd })
    expect({ stdout, stderr, code }).toEqual({ stdout: 'four\n', stderr: '', code: 0 })
  })

  it('that exports its parts by name may export others beside them', async () => {
    const text = [
      "export const question = 'What is two and two?'",
      'export const executor = async () => ({ answer: await sum() })',
      "export const sum = async () => 'four'",
    ]
    writeFileSync(join(cwd, 'parts.mjs'), text.join('\n'))
    const { stdout, stderr } = await cli(['run', '--quiet', '--agent', 'parts.mjs'], { cwd })
    expect({ stdout, stderr }).toEqual({ stdout: 'four\n', stderr: '' })
  })

  it('with an unknown option is refused', async () => {
    writeFileSync(join(cwd, 'slip.mjs'), agent.replace('tools: []', 'tool: []'))
    const { stderr, code } = await cli(['run', '--quiet', '--agent', 'slip.mjs'], { cwd })
    expect(stderr).toContain('`tool` is not an option of `TurnRunner`. Use `tools`')
    expect(code).toBe(1)
  })

  it('without a model says how to give it one', async () => {
    writeFileSync(join(cwd, 'bare.mjs'), "export const instructions = 'Be brief.'\n")
    const { stderr, code } = await cli(['run', '--agent', 'bare.mjs', 'hello'], { cwd })
    expect(stderr).toContain('`bare.mjs` has no model')
    expect(code).toBe(2)
  })

  it('that needs a package names it', async () => {
    writeFileSync(join(cwd, 'needs.mjs'), "import 'bobbin-none'\n")
    const { stderr, code } = await cli(['run', '--agent', 'needs.mjs', 'hello'], { cwd })
    expect(stderr).toContain('needs the package `bobbin-none`: run `npm install bobbin-none`.')
    expect(code).toBe(2)
  })

  it('decides by its `offline` executor with --offline, and says so when it has none', async () => {
    const parts =
      "export const offline = async () => ({ answer: 'by rule' })\nexport const tools = []\n"
    writeFileSync(join(cwd, 'rules.mjs'), parts)
    const env = { OPENAI_API_KEY: 'k' }
    const ask = (file: string) =>
      cli(['run', '--quiet', '--offline', '--agent', file, 'hello'], { cwd, env })
    expect(await ask('rules.mjs')).toEqual({ stdout: 'by rule\n', stderr: '', code: 0 })
    const { stderr, code } = await ask('bare.mjs')
    expect(stderr).toContain('`--offline` needs an executor: `bare.mjs` exports no `offline`.')
    expect(code).toBe(2)
  })

  it('that is missing is explained with a sample, which runs as it stands', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'bobbin-empty-'))
    try {
      const { stdout, stderr, code } = await cli(['run'], { cwd: empty })
      expect({ stdout, code }).toEqual({ stdout: '', code: 2 })
      expect(stderr).toContain('This folder has no agent file: write `agent.mjs`, or name one with')
      expect(readdirSync(empty)).toEqual([])
      const [, sample = ''] = /into agent\.mjs:\n\n(.+?)\nThen run:/s.exec(stderr) ?? []
      const [, question = ''] = /npx bobbin-adk run "(.+)"/.exec(stderr) ?? []
      const source = new URL('../../src/tools/tool.ts', import.meta.url).href
      writeFileSync(join(empty, 'agent.mjs'), sample.replace('bobbin-adk', source))
      const ran = await cli(['run', question], { cwd: empty })
      expect(ran.stdout).toMatch(/\d\d:\d\d:\d\d/)
      expect(ran.stdout).toContain('What to try next:')
      expect(ran).toMatchObject({ stderr: '', code: 0 })
      // Only the first turn of a store says what to try.
      expect((await cli(['run', question], { cwd: empty })).stdout).not.toContain('What to try')
    } finally {
      rmSync(empty, { recursive: true, force: true })
    }
  })

  it('waits without a terminal, and continues with --yes', async () => {
    const source = new URL('../../src/tools/tool.ts', import.meta.url).href
    writeFileSync(
      join(cwd, 'asks.ts'),
      `import { Tool } from ${JSON.stringify(source)}
export const tools = [new Tool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object', properties: {} } as const,
  effect: 'write', approval: true, handler: () => 'paid' })]
export const executor = async (ctx: { turnToolCalls: { settlement: string }[] }) =>
  ctx.turnToolCalls[0] ? { answer: ctx.turnToolCalls[0].settlement } : { calls: [{ tool: 'pay', args: {} }] }
`,
    )
    const store = ['--store', 'asks.db', '--agent', 'asks.ts']
    const waits = await cli(['run', 'pay', ...store], { cwd })
    expect(waits.code).toBe(3)
    expect(waits.stdout).toContain('suspended')
    const done = await cli(['run', '--resume', 'last', '--yes', '--quiet', ...store], { cwd })
    expect(done).toMatchObject({ stdout: 'ok\n', code: 0 })
  })
})

describe('bad usage', () => {
  it.each([
    ['an unknown command', ['rnu'], 2, 'Did you mean `run`?'],
    ['an unknown option', ['run', '--colour'], 2, '`bobbin help run` lists its options'],
    [
      'a missing agent file',
      ['run', '--agent', 'gone.mjs'],
      2,
      'The agent file `gone.mjs` does not exist',
    ],
    ['a missing store', ['calls', '--store', 'gone.db'], 2, 'The store `gone.db` does not exist'],
    ['an unknown settlement', ['calls', '-s', 'gone'], 2, 'use ok, failed, refused'],
    ['an unknown call', ['calls', 'show', 'zzz'], 2, 'Unknown call `zzz`'],
    ['an unknown conversation', ['export', 'zzz'], 2, 'Unknown conversation `zzz`'],
    ['a missing import', ['import', 'gone.jsonl'], 2, 'The file `gone.jsonl` does not exist'],
    ['an unknown provider', ['run', '--model', 'acme:x', ...INCIDENT], 2, 'names no provider'],
    ['a model without a key', ['run', '--model', 'openai:x', ...INCIDENT], 2, 'set OPENAI_API_KEY'],
    [
      'a store in a folder that is a file',
      ['run', '--store', 'own.mjs/x.db', ...INCIDENT],
      2,
      'own.mjs',
    ],
  ])('%s gives one sentence', async (_title, args, expected, message) => {
    const { stdout, stderr, code } = await cli(args, { cwd })
    expect(stderr).toContain(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect({ stdout, code }).toEqual({ stdout: '', code: expected })
  })

  it('an import of nonsense changes nothing', async () => {
    writeFileSync(join(cwd, 'nonsense.jsonl'), '{"hello":1}\n')
    const { stderr, code } = await cli(['import', 'nonsense.jsonl', '--as', 'n'], { cwd })
    expect(stderr).toContain('Nothing was imported; give it a file that `bobbin export` wrote.')
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
    expect((await cli(['verify', 'n'], { cwd })).code).toBe(2)
  })

  // Not even root can make a folder there.
  it.runIf(existsSync('/sys/kernel'))('a read-only folder gives the way out', async () => {
    const { stderr, code } = await cli(['run', ...INCIDENT, '--store', '/sys/kernel/x/y.db'], {
      cwd,
    })
    expect(stderr).toContain('choose another place with --store')
    expect(code).toBe(1)
  })

  it('says failures as JSON with --json', async () => {
    const { stderr, code } = await cli(['calls', '--json', '--store', 'gone.db'], { cwd })
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'E_USAGE' } })
    expect(code).toBe(2)
  })
})

describe('the rest', () => {
  it('names its version and helps with every command', async () => {
    expect(VERSION).toBe(manifest.version)
    expect((await cli(['--version'], { cwd })).stdout).toBe(`${VERSION}\n`)
    const { stdout } = await cli([], { cwd })
    for (const [, name = ''] of stdout.matchAll(/^ {2}(\w+) {2}/gm)) {
      const help = await cli(['help', name], { cwd })
      expect(help.stdout).toContain(`bobbin ${name}`)
      expect(help.code).toBe(0)
    }
  })

  it('keeps records from other users', () => {
    expect(statSync(join(cwd, '.bobbin')).mode & 0o077).toBe(0)
    expect(readFileSync(join(cwd, 'talk.jsonl'), 'utf8').length).toBeGreaterThan(0)
  })
})
