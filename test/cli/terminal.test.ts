import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { loopbackProvider } from '../../src/testing/loopback/loopback-provider.ts'
import { buildPackage, INCIDENT } from './incident-agent.ts'
import { runInTerminal, type Typed } from './pseudo-terminal.ts'
import { writeTerminalAgent } from './terminal-agent.ts'

const bobbin = inRoot('dist', 'cli', 'main.js')
const cwd = mkdtempSync(join(tmpdir(), 'bobbin-cli-'))
const env = { PATH: process.env['PATH'], TERM: 'xterm-256color', USER: 'tester' }
const PROMPT = '[l]ater: '
/** Why a call waits, as a terminal of 100 columns shows it. */
const WHY = [
  '  This call waits because its tool asks for an approval: approve or deny it, or change the',
  '  `approval` of the tool.',
]
const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'

beforeAll(async () => {
  await buildPackage()
  writeTerminalAgent(cwd)
}, 60_000)

afterAll(() => rmSync(cwd, { recursive: true, force: true }))

let stores = 0
/** A command in a terminal and with a store of its own, and what is left on the screen. */
const inTerminal = (args: readonly string[], typed: readonly Typed[], columns = 100) =>
  runInTerminal([bobbin, ...args, '--store', `s${stores++}.db`], { cwd, env, typed, columns })

/** Times and ids are never twice the same. */
const timeless = (screen: string) =>
  screen
    .replace(/\b\d+ ms|\b\d+\.\d s/g, 'TIME')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{3}[0-9a-f-]*(~\d)?/g, 'ID')

describe('bobbin run in a terminal', () => {
  it('moves while calls run, asks, and leaves a screen without a trace of what moved', async () => {
    const { bytes, screen, code } = await inTerminal(
      ['run', ...INCIDENT],
      [{ when: PROMPT, type: 'y\r' }],
    )
    expect(bytes).toContain('of 300,000 lines')
    expect(bytes).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/)
    expect(screen).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏█]/)
    const lines = screen.split('\n')
    expect(lines.filter((line) => line.startsWith('✓'))).toHaveLength(16)
    expect(lines.filter((line) => line.startsWith('⊘'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('read_log service=checkout'))).toHaveLength(1)
    // Which of the four ends first is up to the machine.
    const [gathered = ''] = timeless(screen).split(
      '\n\nThe outputs stay on the spool; I got handles.',
    )
    expect(gathered.split('\n').slice(-4).sort()).toEqual([
      '✓ list_deploys TIME, 86,275 lines, 1.5 MB kept out of the prompt',
      '✓ list_hosts TIME, 4,861 lines, 207 KB kept out of the prompt',
      '✓ read_log service=checkout TIME, 300,000 lines, 26.8 MB kept out of the prompt',
      '✓ read_runbook TIME, 700 lines, 23.6 KB kept out of the prompt',
    ])
    expect(screen).toContain(
      [
        '? Allow roll_back {"service":"checkout","to":"5.11.3"}',
        ...WHY,
        '  [y]es once, all [c]onversation, [n]o, [e]dit, [l]ater: y',
        '✓ roll_back service=checkout to=5.11.3',
      ].join('\n'),
    )
    expect(screen).toContain('It was rolled back to 5.11.3; checkout is healthy now.')
    expect(screen).toContain('What to try next:\n  npx bobbin-adk calls ')
    expect(code).toBe(0)
  }, 60_000)

  it('says what to type when the decision is put off', async () => {
    const { screen, code } = await inTerminal(['run', 'pay'], [{ when: PROMPT, type: 'l\r' }], 60)
    expect(timeless(screen).split('\n')).toEqual([
      '> pay',
      '? Allow pay {"amount":7}',
      '  This call waits because its tool asks for an approval:',
      '  approve or deny it, or change the `approval` of the tool.',
      '  [y]es once, all [c]onversation, [n]o, [e]dit, [l]ater: l',
      '─'.repeat(60),
      'suspended in TIME: 0 calls (none)',
      'It waits for a decision: `npx bobbin-adk run --resume',
      'ID` asks for it.',
      expect.stringMatching(/^Recorded in s\d\.db, conversation$/),
      'ID',
    ])
    expect(code).toBe(3)
  }, 60_000)

  it('keeps keys that are typed too early out of its text and of its question', async () => {
    const { screen, code } = await inTerminal(
      ['run', ...INCIDENT],
      [
        { when: 'I run offline', type: 'n\rxyzzy\r' },
        { when: 'Does the runbook know', type: 'n\r' },
        { when: PROMPT, type: 'y\r' },
      ],
    )
    expect(screen).not.toContain('xyzzy')
    expect(screen).toContain('It was rolled back to 5.11.3')
    expect(code).toBe(0)
  }, 60_000)

  it('breaks help between words, and cuts a list of calls to the width', async () => {
    const store = ['--store', 'narrow.db']
    await runCommand(process.execPath, [bobbin, 'run', 'read', '--quiet', ...store], { cwd, env })
    for (const columns of [40, 80]) {
      const see = (...args: string[]) => runInTerminal([bobbin, ...args], { cwd, env, columns })
      const { bytes } = await see('help', 'run')
      const help = bytes.replaceAll(/\u001b\[\d+m/g, '').split('\r\n')
      expect(help.filter((line) => line.length > columns)).toEqual([])
      const { screen } = await see('calls', ...store)
      const [header = '', day, row = '', ...more] = screen.split('\n')
      expect(header).toMatch(/^ {2}TIME {7}ID {13}TOOL AND /)
      expect(day).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(row).toMatch(/^✓ \d\d:\d\d:\d\dZ {2}[0-9a-f-]{12}… {2}read/)
      expect(more).toEqual([])
    }
  }, 60_000)

  it('heeds NO_COLOR', async () => {
    const plain = { ...env, NO_COLOR: '1' }
    const { bytes } = await runInTerminal([bobbin, '--help'], { cwd, env: plain })
    expect(bytes).toContain('run one turn')
    expect(bytes).not.toContain('\u001b[')
  })
})

describe('bobbin chat in a terminal', () => {
  it('answers, asks for approvals at its prompt until the arguments fit, and ends on Ctrl-D', async () => {
    const { screen, code } = await inTerminal(
      ['chat'],
      [
        { when: '> ', type: 'hello\r' },
        { when: 'You said hello.', type: '' },
        { when: '> ', type: 'pay\r' },
        { when: PROMPT, type: 'e\r' },
        { when: 'as JSON: ', type: `${CTRL_U}{"amount":"x"}\r` },
        { when: PROMPT, type: 'e\r' },
        { when: 'as JSON: ', type: `${CTRL_U}{"amount":9}\r` },
        { when: 'That is ok.', type: '' },
        { when: '> ', type: 'pay\r' },
        { when: PROMPT, type: 'n\r' },
        { when: 'That is denied.', type: '' },
        { when: '> ', type: CTRL_D },
      ],
    )
    expect(timeless(screen).split('\n')).toEqual([
      'Ask something; an empty line ends the conversation.',
      '> hello',
      '',
      'You said hello.',
      '> pay',
      '? Allow pay {"amount":7}',
      ...WHY,
      '  [y]es once, all [c]onversation, [n]o, [e]dit, [l]ater: e',
      '  as JSON: {"amount":"x"}',
      '! `args` of the decision on gate `ID` do not fit the tool:',
      '`amount`: Instance type "string" is invalid. Expected "number". Nothing was decided; send it again,',
      'corrected.',
      '? Allow pay {"amount":7}',
      ...WHY,
      '  [y]es once, all [c]onversation, [n]o, [e]dit, [l]ater: e',
      '  as JSON: {"amount":9}',
      '~ pay amount=7 edited TIME',
      '  A person changed the arguments; the call ran as `ID`.',
      '✓ pay amount=9 TIME, 6 bytes in the prompt',
      '',
      'That is ok.',
      '> pay',
      '? Allow pay {"amount":7}',
      ...WHY,
      '  [y]es once, all [c]onversation, [n]o, [e]dit, [l]ater: n',
      '⊘ pay amount=7 denied TIME',
      '  Denied: a person or a policy declined this call. It was not run.',
      '',
      'That is denied.',
      '>',
      'npx bobbin-adk chat --resume ID continues.',
    ])
    expect(code).toBe(0)
  }, 60_000)

  it.each([
    ['at its prompt', [{ when: '> ', type: CTRL_C }], 'Interrupted.'],
    [
      'after an answer',
      [
        { when: '> ', type: 'hello\r' },
        { when: 'You said hello.', type: '' },
        { when: '> ', type: CTRL_C },
      ],
      'Interrupted. npx bobbin-adk chat --resume ID continues.',
    ],
    [
      'while a call runs',
      [
        { when: '> ', type: 'wait\r' },
        { when: 'of 600 steps', type: CTRL_C },
      ],
      [
        '⊘ wait aborted TIME',
        '  The turn was aborted while the call ran.',
        'ABORTED: The turn was aborted by its signal.',
        'Interrupted. npx bobbin-adk chat --resume ID continues.',
      ].join('\n'),
    ],
    [
      'at a question',
      [
        { when: '> ', type: 'pay\r' },
        { when: PROMPT, type: CTRL_C },
      ],
      [
        '  [y]es once, all [c]onversation, [n]o, [e]dit, [l]ater:',
        'It waits for a decision: `npx bobbin-adk run --resume ID` asks for it.',
        'Interrupted. npx bobbin-adk chat --resume ID continues.',
      ].join('\n'),
    ],
  ])(
    'ends on Ctrl-C %s with the way out',
    async (_title, typed, end) => {
      const { screen, code } = await inTerminal(['chat'], typed)
      expect(timeless(screen).endsWith(end)).toBe(true)
      expect(screen).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏█]/)
      expect(code).toBe(130)
    },
    60_000,
  )
})

const piped = (args: readonly string[]) =>
  runCommand(process.execPath, [bobbin, ...args], { cwd, env })

describe('bobbin run in a pipe', () => {
  it('waits instead of asking, and writes no control characters', async () => {
    const { code, output } = await piped(['run', 'pay'])
    expect(output).toContain('It waits for a decision')
    expect(/[^\n\P{Cc}]/u.test(output)).toBe(false)
    expect(code).toBe(3)
  }, 30_000)
})

describe('the agent file of the documentation', () => {
  it('loads, and its model answers', async () => {
    const text = { type: 'output_text', text: 'Hello to you.', annotations: [] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [text] }
    const response = { id: 'r', object: 'response', status: 'completed', output: [message] }
    const events = [{ type: 'response.completed', sequence_number: 1, response }]
    const server = await loopbackProvider({ api: 'openai-responses', exchanges: [{ events }] })
    const own = { ...env, OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.url }
    // The page shows this very file; see test/reference.test.ts.
    const args = ['run', 'hello', '--quiet', '--agent', inRoot('examples', 'agent', 'agent.mjs')]
    const { code, output } = await runCommand(process.execPath, [bobbin, ...args], {
      cwd,
      env: own,
    })
    await server.close()
    expect({ code, output }).toEqual({ code: 0, output: 'Hello to you.\n' })
  }, 30_000)
})
