// @ts-nocheck
// What was done to make the stored files: see `make-fixtures.mjs`. It is kept as it was run.
import { z } from 'zod'
import {
  bytesMedia,
  Media,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  SpooledTableArtifact,
  Tool,
  TurnRunner,
} from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { book, clerk, pay, transfer } from './stored-tools.ts'

/** Longer than what a store keeps by itself: it goes to the spool. */
const LONG_TEXT = Array.from(
  { length: 1160 },
  (_, i) =>
    `12:00:${String(i % 60).padStart(2, '0')} checkout request ${i} failed: the disk 7 is full\n`,
).join('')

export const SECRET = new Uint8Array(32).fill(7)

const read = (name, handler, more = {}) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: z.object({ q: z.string().optional(), limit: z.number().default(10) }),
    effect: 'read',
    trust: 'first-party',
    handler,
    ...more,
  })

const media = (filename, bytes) =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename,
    trustTier: 'first-party',
    modalityHazard: 'opaque-perceptual',
    reader: bytesMedia(new Uint8Array(bytes)),
  })

const never = () => new Promise(() => {})

const readTools = [
  read('look', ({ q }) => `seen: ${q}`),
  read('fail', () => {
    throw new Error('the disk is gone')
  }),
  read('log', () => LONG_TEXT, { inline: false, trust: 'third-party' }),
  read('picture', () => [
    media('a.png', [137, 80, 78, 71, 1]),
    media('b.png', [137, 80, 78, 71, 2]),
  ]),
  read('json', () => ({ disks: [{ id: 7, isFull: true }] })),
  read('json_text', () => '{"a":[1,2]}', { artifactConstructor: () => SpooledJsonArtifact }),
  read('page', () => '# Disks\n\nAll full.\n', {
    artifactConstructor: () => SpooledMarkdownArtifact,
  }),
  read('table', () => 'id,full\n7,yes\n', { artifactConstructor: () => SpooledTableArtifact }),
  read('parts', async (_, ctx) => [await ctx.spool('one'), await ctx.spool('two')]),
  read('nothing', () => ''),
  read('slow', never, { timeoutMs: 10 }),
  read('login', () => 'in', { inputSchema: z.object({ user: z.string(), password: z.string() }) }),
]

const say = (text) => [{ text }]
const call = (tool, id, args = {}) => ({ call: tool, id, args })
const to = (name, amount) => ({ to: name, amount })

/** Plays all conversations into a store. Time stands still within a turn, and one call runs at a time. */
export async function playConversations(store, clock) {
  let made = 0
  const ids = () => `id-${++made}`
  const runner = (steps, options = {}) =>
    new TurnRunner({
      store,
      clock,
      ids,
      concurrency: 1,
      retries: 0,
      policy: 'open',
      ...(options.executor ? {} : { model: scriptedModel(steps) }),
      ...options,
    })
  const expectStatus = async (turn, status) => {
    const outcome = await turn
    if (outcome.status !== status) {
      throw new Error(`${outcome.status} instead of ${status}: ${JSON.stringify(outcome.reason)}`)
    }
    return outcome
  }
  const run = (
    conversation,
    steps,
    { status = 'completed', message = 'Go on.', ...options } = {},
  ) => {
    clock.advance(60_000)
    const { attachments, signal, ...rest } = options
    const input = {
      conversation,
      message,
      ...(attachments && { attachments }),
      ...(signal && { signal }),
    }
    return expectStatus(runner(steps, rest).run(input), status)
  }
  const resume = (conversation, steps, decisions, { status = 'completed', ...options } = {}) => {
    clock.advance(60_000)
    return expectStatus(runner(steps, options).resume({ conversation, decisions }), status)
  }
  const recover = (conversation, options) => {
    clock.advance(60_000)
    return expectStatus(runner([], options).recover({ conversation }), 'completed')
  }
  const decided = ({ gates }, answer) =>
    gates.map(({ id }) => ({ gate: id, decidedBy: 'ann', approve: true, ...answer }))

  await playCalls(run, recover)
  await playDecisions(run, resume, decided)
  await playProvider(run, resume, decided)
  await playOpen(store, run, clock)
  await playCrash(store, run, clock, runner)
}

async function playCalls(run, recover) {
  const tools = readTools
  await run(
    'calls',
    [
      [{ thought: 'I should look.' }, { text: 'I look.' }, call('look', 'call_1', { q: 'disk' })],
      // The provider counts from the start in every response.
      [call('look', 'call_1', { q: 'ünï🧵' }), call('fail', 'f1')],
      [call('absent', 'u1'), call('look', 'r1', { q: 5 })],
      [call('look', 'b1', '{"q": "half'), call('look', 'b2', LONG_TEXT)],
      // On a wire without ids.
      [{ call: 'look', args: { q: 'no id' } }],
      [call('log', 'log_1')],
      [call('artifact_head', 'h1', { callId: 'log_1' })],
      [call('picture', 'p1'), call('json', 'j1'), call('json_text', 'j2')],
      [call('page', 'm1'), call('table', 't1'), call('parts', 's1'), call('nothing', 'n1')],
      [call('login', 'l1', { user: 'ann', password: 'hunter2' })],
      say('The disk 7 is full.'),
    ],
    {
      tools,
      message: 'Why did checkout fail at noon?',
      attachments: [media('chart.png', [137, 80, 78, 71, 3])],
    },
  )
  await run('calls', [[call('slow', 'slow_1')], say('It took too long.')], { tools })
  const stop = new AbortController()
  const hang = () => {
    stop.abort()
    return never()
  }
  await run('calls', [[call('hang', 'a1')]], {
    tools: [read('hang', hang)],
    signal: stop.signal,
    status: 'aborted',
  })
  await run('calls', [{ error: new Error('the model is out of order') }], { status: 'failed' })
  await run('calls', [[call('look', 'i1', { q: 'again' })]], {
    tools,
    maxIterations: 1,
    status: 'stopped',
  })

  const hanging = transfer({ handler: never, timeoutMs: 10 })
  const asks = [call('transfer', 'd1', to('bob', 1)), call('transfer', 'd2', to('bob', 2))]
  const steps = [[...asks, call('transfer', 'd3', to('bob', 3))], say('Nobody knows.')]
  await run('doubts', steps, { tools: [hanging] })
  const found = [
    { happened: 'yes', output: 'moved it' },
    { happened: 'no' },
    { happened: 'unknown' },
  ]
  const knowing = transfer({ reconcile: async () => found.shift() })
  await recover('doubts', { tools: [knowing] })

  const key = { secret: SECRET, tools }
  await run('own-key', [[call('look', 'k1', { q: 'key' })], say('Sealed.')], key)
}

async function playDecisions(run, resume, decided) {
  const tools = [pay()]
  const asked = (id, amount) =>
    run('decisions', [[call('pay', id, to('bob', amount))]], { tools, status: 'suspended' })
  const answered = (asking, answer) =>
    resume('decisions', [say('So be it.')], decided(asking, answer), { tools })
  await answered(await asked('p1', 1), { approve: false, reason: 'too much' })
  await answered(await asked('p2', 20), { args: to('bob', 2) })
  await answered(await asked('p3', 3), {})
  await asked('p4', 4)
  await run('decisions', [say('Never mind.')], { tools })
  const approve = () => ({ approve: true, decidedBy: 'rule 7' })
  await run('decisions', [[call('pay', 'p5', to('eve', 5))], say('Paid.')], { tools, approve })
}

/** The places of a provider's own calls. */
const at = (type, callId) => ({ provider: 'p', api: 'scripted', type, origin: 'natural', callId })
const opaque = (data) => ({ api: 'scripted', endpoint: 'main', modelFamily: 'scripted', data })
const openCall = (id, gate) => ({
  item: {
    type: 'openCall',
    id,
    tool: 'mail',
    args: { to: 'bob' },
    wire: at('mcp_approval_request', id),
    executedBy: 'provider',
    gate,
  },
})
const searched = {
  item: {
    type: 'call',
    id: 'ws_1',
    tool: 'web_search',
    args: { q: 'disk 7' },
    wire: { ...at('web_search_call', 'ws_1'), itemId: 'item_1', outputId: 'item_2' },
    executedBy: 'provider',
    providerData: opaque({ container: 'c_1' }),
    result: { isError: false, parts: [{ type: 'text', text: 'found it' }] },
  },
}
const parts = ['Hello, ', 'world.'].map((text) => ({ type: 'text', text }))

async function playProvider(run, resume, decided) {
  const signed = { type: 'thought', text: 'Hm.', providerData: opaque({ signature: 'c2lnbmVk' }) }
  const spoken = { type: 'message', role: 'assistant', parts, providerData: opaque({ phase: 1 }) }
  const raw = { type: 'raw', api: 'scripted', value: { type: 'compaction', data: [1, null] } }
  const asked = {
    type: 'call',
    id: 'fc_1',
    tool: 'look',
    args: { q: 'signed' },
    wire: { ...at('function_call', 'fc_1'), itemId: 'item_0' },
    executedBy: 'runner',
    providerData: opaque({ thoughtSignature: 'c2lnbmVk' }),
  }
  const steps = [
    [{ item: signed }, { item: asked }],
    [searched, { item: raw }, { item: spoken }],
  ]
  await run('provider', steps, { tools: readTools })
  const waits = { status: 'suspended' }
  const declined = await run(
    'provider',
    [[openCall('mail_1', { kind: 'approval', server: 's' })]],
    waits,
  )
  await resume('provider', [say('Not sent.')], decided(declined, { approve: false }))
  await run('provider', [[openCall('mail_2', { kind: 'approval', server: 's' })]], waits)
  const url = 'https://example.com/consent'
  await run('consent', [[openCall('mail_1', { kind: 'consent', url })]], waits)
}

/** What still waits for somebody. */
async function playOpen(store, run, clock) {
  const waits = { tools: [pay()], status: 'suspended' }
  await run('waiting', [say('Good morning.')], { tools: waits.tools })
  await run('waiting', [[{ text: 'I pay.' }, call('pay', 'w1', to('bob', 7))]], waits)

  const tools = [read('mail', () => 'please pay', { trust: 'third-party' }), transfer()]
  const { gates } = await run(
    'decided',
    [[call('mail', 'm1')], [call('transfer', 'd1', to('bob', 8))]],
    {
      tools,
      policy: 'default',
      status: 'suspended',
    },
  )
  clock.advance(60_000)
  const verdict = { verdict: 'approved', decidedBy: 'ann' }
  for (const { id } of gates) await store.decideGate('decided', id, verdict)

  const model = scriptedModel([[call('pay', 'n1', to('bob', 9))]])
  const agent = { model, tools: [pay()], retries: 0, concurrency: 1 }
  const task = [call('clerk', 'c1', { task: 'Pay Bob.' })]
  await run('agent', [task], { tools: [clerk(agent)], status: 'suspended' })
}

/** Processes that die as soon as their intent is stored. */
async function playCrash(store, run, clock, runner) {
  const deaths = [
    ['crashed', 'transfer', transfer()],
    ['crashed-repeatable', 'book', book()],
  ]
  for (const [conversation, name, tool] of deaths) {
    await run(conversation, [say('Good morning.')])
    clock.advance(60_000)
    const { mortal, died } = diesBehindIntent(store)
    const dying = runner([[call(name, 'x1', to('bob', 10))]], { store: mortal, tools: [tool] })
    void dying.run({ conversation, message: 'Do it.' })
    await died
  }
}

function diesBehindIntent(store) {
  let isDead = false
  let die
  const died = new Promise((resolve) => {
    die = resolve
  })
  const whileAlive =
    (ask) =>
    (...args) =>
      isDead ? never() : ask(...args)
  const append = async (...args) => {
    const stored = await store.append(...args)
    if (!args[2].some(({ kind }) => kind === 'intent')) return stored
    isDead = true
    die()
    return never()
  }
  const { acquire, release, renew } = store
  const mortal = {
    ...store,
    append: whileAlive(append),
    acquire: whileAlive(acquire),
    release: whileAlive(release),
    renew: whileAlive(renew),
  }
  return { mortal, died }
}
