import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import { loopbackProvider } from '../src/testing/index.ts'
import type { SummaryRequest } from '../src/turn/compact/compaction.ts'
import type { RunnerOptions } from '../src/turn/options/option-table.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { requestOf, wire } from '../src/wire/index.ts'
import { begins } from './prefix/prompt.ts'
import { sampleTool } from './turn-samples.ts'
import { samplesOf } from './wire/provider-samples.ts'

type Json = Record<string, unknown>
type Setup = Pick<RunnerOptions, 'tools' | 'instructions' | 'budget' | 'compact'>

const look = sampleTool('look', () => 'seen')
const other = sampleTool('other', () => 'other')
const third = sampleTool('third', () => 'third')
const changed = sampleTool('other', () => 'other', { description: 'Another description.' })
const long = sampleTool('long', ({ q }) => `${q} `.repeat(4_000))

const FIRST: Setup = { tools: [look], instructions: 'Be brief.' }

/** Plays one turn with a call for each setup, every one with a runner that has only the log, and gives the requests. */
async function play(api: string, setups: readonly Setup[], tool = 'look') {
  const { script, open } = samplesOf(api)
  const exchanges = setups.flatMap((_, turn) => [
    { events: [...script.calls([{ id: `call_${turn}`, tool, args: `{"q":"${turn}"}` }])] },
    { events: [...script.answer(`turn ${turn}`)] },
  ])
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const store = memoryStore()
  for (const [turn, setup] of setups.entries()) {
    const model = open(server.url, { model: samplesOf(api).model.model, appends: true })
    const { status, reason } = await new TurnRunner({ model, store, ...setup }).run({
      conversation: 'c',
      message: `${turn}?`,
    })
    expect([status, reason]).toEqual(['completed', undefined])
  }
  const bodies = server.requests.map(({ body }) => body as Json)
  return { bodies, store, betas: server.requests.map(({ headers }) => headers['anthropic-beta']) }
}

/** The turns whose first request does not begin with the one before. */
const broken = (bodies: readonly Json[]) =>
  bodies.flatMap((body, at) => (at > 0 && !begins(bodies[at - 1] ?? {}, body) ? [at / 2] : []))

async function causesIn(store: Store) {
  const causes = []
  for await (const { kind, data } of store.entries('c')) {
    if (kind === 'model-call' && data.prefix?.broken) causes.push(data.prefix.broken.causes)
  }
  return causes
}

async function expectProven(store: Store, bodies: readonly Json[]) {
  const rebuilt = []
  for await (const { kind, data } of store.entries('c')) {
    if (kind === 'model-call')
      rebuilt.push(await requestOf(store, { conversation: 'c', modelCall: data.id }))
  }
  expect(rebuilt.map(({ proven }) => proven)).toEqual(bodies.map(() => true))
}

const system = ({ messages }: Json) =>
  (messages as Json[]).flatMap(({ role, content }, at) =>
    role === 'system' ? [[at, content]] : [],
  )

describe('changed tools and instructions over anthropic-messages', () => {
  const api = 'anthropic-messages'

  it('are appended as system messages, and break nothing', async () => {
    const { bodies, store, betas } = await play(api, [
      FIRST,
      { tools: [look, other], instructions: 'Be brief.' },
      { tools: [look], instructions: 'Be long.' },
      { tools: [other, look], instructions: 'Be long.' },
      { tools: [other, look], instructions: 'Be long.' },
    ])
    expect(broken(bodies)).toEqual([])
    expect(await causesIn(store)).toEqual([])
    await expectProven(store, bodies)
    const inline = {
      name: 'other',
      description: 'The tool other.',
      input_schema: expect.anything(),
    }
    const reference = { type: 'tool_reference', name: 'other' }
    const replace = 'From here on, these instructions replace the ones before:\n\nBe long.\n'
    const text = expect.stringContaining(replace)
    const told = system(bodies.at(-1) ?? {})
    expect(told.map(([, content]) => content)).toEqual([
      [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: inline } }],
      [
        { type: 'text', text },
        { type: 'tool_removal', tool: reference },
      ],
      [{ type: 'tool_addition', tool: reference }],
    ])
    const { messages = [] } = bodies.at(-1) as { messages?: Json[] }
    const roles = messages.map(({ role }) => role)
    for (const [at] of told)
      expect([roles[Number(at) - 1], roles[Number(at) + 1]]).toEqual(['user', 'assistant'])
    expect(betas.at(0)).toBeUndefined()
    expect(betas.at(-1)).toBe('inline-tools-2026-09-15,mid-conversation-tool-changes-2026-07-01')
  })

  it('replace the old ones where a tool changes its definition, and are appended again later', async () => {
    const { bodies, store } = await play(api, [
      { ...FIRST, tools: [look, other] },
      { ...FIRST, tools: [look, changed] },
      { ...FIRST, tools: [look, changed, third] },
    ])
    expect(broken(bodies)).toEqual([1])
    expect(await causesIn(store)).toEqual([['tools']])
    await expectProven(store, bodies)
  })

  it('begin anew after a step of the budget', async () => {
    const setups = [1, 2, 3, 4, 5].map((turn) => ({
      tools: turn < 3 ? [long, look] : [long, look, other],
      instructions: turn < 2 ? 'Be brief.' : 'Be long.',
      ...(turn > 3 && { budget: { maxTokens: 6_000 } }),
    }))
    const { bodies, store } = await play(api, setups, 'long')
    expect((await causesIn(store)).every((causes) => causes.includes('budget'))).toBe(true)
    const last = bodies.at(-1) ?? {}
    expect(last['system']).toMatchObject([{ text: expect.stringContaining('Be long.') }])
    expect((last['tools'] as Json[]).map(({ name }) => name)).toContain('other')
    expect(system(last)).toEqual([])
    await expectProven(store, bodies)
  })
})

describe.each(['anthropic-messages', 'bedrock-converse', 'openai-responses'])(
  'changed tools and instructions over %s',
  (api) => {
    it('hold where a summary covers some of the changes', async () => {
      const covered: string[] = []
      const summarise = ({ items }: SummaryRequest) => {
        covered.push(JSON.stringify(items))
        return 'So far.'
      }
      const wishes = ['brief', 'long', 'kind', 'brief', 'long', 'long', 'kind']
      const setups = wishes.map((wish, turn) => ({
        tools: turn % 2 === 0 ? [long, look] : [long, look, other],
        instructions: `Be ${wish}.`,
        compact: { at: 7_000, keepTurns: 2, summarise },
      }))
      const { bodies, store } = await play(api, setups, 'long')
      expect(covered.length).toBeGreaterThan(1)
      // What the developer says is not summarised.
      expect(covered.join()).not.toContain('Be ')
      for (const [at, body] of bodies.entries()) {
        const wish = `Be ${wishes[at >> 1]}.`
        const told = JSON.stringify(body).match(/Be \w+\./g)
        expect(told).toContain(wish)
      }
      await expectProven(store, bodies)
    })
  },
)

/** Three runners on one log, the second and third with other tools and instructions. */
async function threeTurns(api: string, isFailing: boolean) {
  const { script, open, model } = samplesOf(api)
  const answers = ['one', 'two', 'three'].map((text) => ({ events: [...script.answer(text)] }))
  const exchanges = answers.map((said, at) => (isFailing && at === 1 ? { status: 400 } : said))
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const store = memoryStore()
  const runner = (setup: Setup) =>
    new TurnRunner({
      model: open(server.url, { model: model.model, appends: true }),
      store,
      ...setup,
    })
  const later = { tools: [look, other], instructions: 'Be long.' }
  await runner(FIRST).run({ conversation: 'c', message: '1?' })
  await runner(later).run({ conversation: 'c', message: '2?' })
  const bodies = () => server.requests.map(({ body }) => body as Json)
  return { store, bodies, runner, later }
}

describe.each(['anthropic-messages', 'openai-responses'])('a change over %s', (api) => {
  it('is told again in its place when its turn is taken back', async () => {
    const { store, bodies, runner, later } = await threeTurns(api, false)
    await runner(later).regenerate({ conversation: 'c' })
    const [, second, last] = bodies()
    expect(last).toEqual(second)
    expect(await causesIn(store)).toEqual([])
    await expectProven(store, bodies())
  })

  it('is not told if the next try of its turn does not want it', async () => {
    const { bodies, runner } = await threeTurns(api, false)
    await runner(FIRST).regenerate({ conversation: 'c' })
    const [first = {}, , last = {}] = bodies()
    expect(begins(first, last)).toBe(true)
    expect(JSON.stringify(last)).not.toContain('Be long.')
  })

  it('is told by the next turn if the request that told it failed', async () => {
    const { store, bodies, runner, later } = await threeTurns(api, true)
    await runner(later).run({ conversation: 'c', message: '3?' })
    const [first = {}, , last = {}] = bodies()
    expect(begins(first, last)).toBe(true)
    expect(JSON.stringify(last)).toContain('Be long.')
    expect(await causesIn(store)).toEqual([])
  })
})

describe('a hand-over over anthropic-messages', () => {
  it('is appended, there and back', async () => {
    const { script, open, model } = samplesOf('anthropic-messages')
    const hand = (id: string, to: string) =>
      script.calls([{ id, tool: 'hand_over', args: JSON.stringify({ to }) }])
    const exchanges = [hand('call_1', 'billing'), hand('call_2', 'triage'), script.answer('done')]
    const server = await loopbackProvider({
      api: 'anthropic-messages',
      exchanges: exchanges.map((events) => ({ events: [...events] })),
      validate: wire('anthropic-messages').validate,
    })
    onTestFinished(() => server.close())
    const store = memoryStore()
    const { text } = await new TurnRunner({
      model: open(server.url, { model: model.model, appends: true }),
      store,
      agents: {
        triage: { instructions: 'Sort.', handOverTo: ['billing'] },
        billing: { instructions: 'Bill.', tools: [look], handOverTo: ['triage'] },
      },
    }).run({ conversation: 'c', message: 'hi' })
    expect(text).toBe('done')
    const bodies = server.requests.map(({ body }) => body as Json)
    expect(broken(bodies)).toEqual([])
    expect(await causesIn(store)).toEqual([])
    await expectProven(store, bodies)
  })
})

describe('changed tools and instructions over openai-responses', () => {
  it('are appended, and a tool that is gone is a break', async () => {
    const { bodies, store } = await play('openai-responses', [
      FIRST,
      { tools: [look, other], instructions: 'Be long.' },
      { tools: [look, other, third], instructions: 'Be long.' },
      { tools: [look, third], instructions: 'Be long.' },
      { tools: [look, third, other], instructions: 'Be brief.' },
    ])
    expect(broken(bodies)).toEqual([3])
    expect(await causesIn(store)).toEqual([['tools']])
    await expectProven(store, bodies)
    const { input = [] } = bodies[5] as { input?: Json[] }
    const told = input.filter(({ role }) => role === 'developer')
    const tools = 'additional_tools'
    expect(told.map(({ type }) => type)).toEqual(['message', tools, tools])
  })
})

describe('a tool that comes and goes over openai-responses', () => {
  it.each(['Be brief.', 'Be long.'])('is the cause of a break, with %s', async (instructions) => {
    const { store } = await play('openai-responses', [
      FIRST,
      { tools: [look, other], instructions },
      { tools: [look], instructions },
    ])
    expect(await causesIn(store)).toEqual([['tools']])
  })
})

describe('changed tools and instructions over bedrock-converse', () => {
  it('are appended if they are instructions', async () => {
    const { bodies, store } = await play('bedrock-converse', [
      FIRST,
      { ...FIRST, instructions: 'Be long.' },
      { tools: [look, other], instructions: 'Be long.' },
    ])
    expect(broken(bodies)).toEqual([2])
    expect(await causesIn(store)).toEqual([['tools']])
    expect(system(bodies[2] ?? {})).toHaveLength(1)
    await expectProven(store, bodies)
  })
})
