import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { Approve, GateAnswer } from './gate-answer.ts'

const paySchema = z.object({ to: z.string(), amount: z.number().default(1) })

function payTool(paid: unknown[], change: Partial<{ description: string; name: string }> = {}) {
  return new Tool({
    name: 'pay',
    description: 'Pays somebody.',
    inputSchema: paySchema,
    effect: 'write',
    approval: true,
    handler: (args) => {
      paid.push(args)
      return 'paid'
    },
    ...change,
  }) as Tool
}

const DAY = 24 * 60 * 60 * 1000

/** A conversation that waits for one decision on `pay({ to: 'bob' })`. */
async function suspended(options: { tool?: Tool; calls?: number } = {}) {
  const clock = testClock()
  const store = memoryStore({ clock })
  const paid: unknown[] = []
  const tool = options.tool ?? payTool(paid)
  const call = { call: 'pay', args: { to: 'bob' } }
  const calls = Array.from({ length: options.calls ?? 1 }, (_, n) => ({ ...call, id: `c${n + 1}` }))
  const first = new TurnRunner({
    model: scriptedModel([calls]),
    tools: [tool],
    store,
    testing: { clock },
  })
  const recorder = eventRecorder(first)
  const outcome = await first.run({ message: 'pay bob', conversation: 'k' })
  const resumeWith = (tools: Tool[] = [payTool(paid)], approve?: Approve) => {
    const model = scriptedModel([[{ text: 'done' }]])
    const more = approve ? { approve } : {}
    return { model, runner: new TurnRunner({ model, tools, store, testing: { clock }, ...more }) }
  }
  const gate = outcome.gates[0] as Gate
  return { clock, store, paid, outcome, gate, resumeWith, recorder }
}

const yes = (gate: Gate): GateAnswer => ({ gate: gate.id, approve: true, decidedBy: 'ann' })

describe('a gate', () => {
  it('suspends the turn and shows what is to be decided as data', async () => {
    const { outcome, gate, paid, recorder } = await suspended()
    expect(outcome).toMatchObject({ status: 'suspended', reason: { code: 'GATE' }, toolCalls: [] })
    expect(gate).toMatchObject({
      kind: 'approval',
      from: 'runner',
      state: 'pending',
      toolCallId: 'c1',
      tool: 'pay',
      args: { to: 'bob', amount: 1 },
      conversation: 'k',
    })
    expect(gate.expiresAt - gate.openedAt).toBe(DAY)
    expect(paid).toEqual([])
    expect(recorder.of('gateOpened')).toEqual([gate])
    expect(recorder.of('toolCall')).toMatchObject([{ id: 'c1', isComplete: false }])
  })

  it('lets the call run once when it is approved', async () => {
    const { gate, paid, resumeWith, store } = await suspended()
    const { runner, model } = resumeWith()
    const recorder = eventRecorder(runner)
    const outcome = await runner.resume({ conversation: 'k', decisions: [yes(gate)] })
    expect(outcome).toMatchObject({ status: 'completed', text: 'done', gates: [] })
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'ok' }])
    expect(paid).toEqual([{ to: 'bob', amount: 1 }])
    expect(recorder.of('gateDecided')).toMatchObject([{ decision: 'approved', decidedBy: 'ann' }])
    expect(model.requests[0]?.items.map(({ type }) => type)).toEqual(['message', 'call'])
    expect((await store.gate('k', gate.id))?.state).toBe('consumed')
    expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
  })

  it('tells the model that it was denied, and why', async () => {
    const { gate, paid, resumeWith } = await suspended()
    const { runner, model } = resumeWith()
    const decisions = [{ gate: gate.id, approve: false, decidedBy: 'ann', reason: 'too much' }]
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'denied' }])
    expect(JSON.stringify(model.requests[0]?.items)).toContain('too much')
    expect(paid).toEqual([])
  })

  it('runs edited arguments as a record of its own that points at the original', async () => {
    const { gate, paid, resumeWith } = await suspended()
    const { runner, model } = resumeWith()
    const decisions = [{ ...yes(gate), args: { to: 'carol', amount: 2 } }]
    const { toolCalls } = await runner.resume({ conversation: 'k', decisions })
    expect(paid).toEqual([{ to: 'carol', amount: 2 }])
    expect(toolCalls).toMatchObject([
      { id: 'c1', settlement: 'edited', isError: true, args: { to: 'bob' } },
      { id: 'c1~2', settlement: 'ok', editOf: 'c1', args: { to: 'carol', amount: 2 } },
    ])
    const shown = model.requests[0]?.items.filter(({ type }) => type === 'call') ?? []
    expect(shown).toHaveLength(1)
    expect(JSON.stringify(shown)).toContain('A person changed the arguments')
  })

  it('shows an edited call the same way when the conversation is read again', async () => {
    const { gate, resumeWith } = await suspended()
    const first = resumeWith()
    const decisions = [{ ...yes(gate), args: { to: 'carol' } }]
    await first.runner.resume({ conversation: 'k', decisions })
    const second = resumeWith()
    await second.runner.run({ conversation: 'k', message: 'and now?' })
    const callIn = (model: typeof first.model) =>
      JSON.stringify(model.requests[0]?.items.find(({ type }) => type === 'call'))
    expect(callIn(second.model)).toBe(callIn(first.model))
  })

  it('is abandoned when the conversation goes on without an answer', async () => {
    const { paid, resumeWith, store, gate } = await suspended()
    const { runner, model } = resumeWith()
    const outcome = await runner.run({ conversation: 'k', message: 'never mind' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'abandoned' }] })
    expect(model.requests[0]?.items.map(({ type }) => type)).toEqual(['message', 'call', 'message'])
    expect((await store.gate('k', gate.id))?.state).toBe('abandoned')
    expect(paid).toEqual([])
  })

  it('waits on while others of the same response are answered', async () => {
    const { outcome, paid, resumeWith } = await suspended({ calls: 2 })
    const [first, second] = outcome.gates as [Gate, Gate]
    const half = await resumeWith().runner.resume({ conversation: 'k', decisions: [yes(first)] })
    expect(half).toMatchObject({ status: 'suspended', gates: [{ id: second.id }] })
    const whole = await resumeWith().runner.resume({ conversation: 'k', decisions: [yes(second)] })
    expect(whole).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'c2', settlement: 'ok' }],
    })
    expect(paid).toHaveLength(2)
  })

  it('runs what was approved where validation makes something new each time', async () => {
    const paid: { key: string }[] = []
    const keyed = () =>
      new Tool({
        name: 'pay',
        description: 'Pays.',
        inputSchema: z
          .object({ to: z.string(), key: z.string().optional() })
          .transform(({ to, key = crypto.randomUUID() }) => ({ to, key })),
        effect: 'write',
        approval: true,
        handler: (args) => {
          paid.push(args)
          return 'ok'
        },
      }) as Tool
    const { gate, resumeWith } = await suspended({ tool: keyed() })
    await resumeWith([keyed()]).runner.resume({ conversation: 'k', decisions: [yes(gate)] })
    expect(paid).toEqual([gate.args])
  })
})

type Situation = Awaited<ReturnType<typeof suspended>>
interface Case {
  readonly name: string
  readonly decisions: (situation: Situation) => unknown
  /** What goes on between the suspension and the decision. */
  readonly before?: (situation: Situation) => unknown
  readonly conversation?: string
  readonly tools?: (paid: unknown[]) => Tool[]
  /** The code of the refusal, or the settlement of the call when the turn goes on without running it. */
  readonly refusal: string
}

const decide = (change: (gate: Gate) => object) => (situation: Situation) => [
  { ...yes(situation.gate), ...change(situation.gate) },
]
const once = async ({ resumeWith, gate }: Situation) => {
  await resumeWith().runner.resume({ conversation: 'k', decisions: [yes(gate)] })
}
const malformed = (name: string, change: object): Case => ({
  name: `malformed: ${name}`,
  decisions: decide(() => change),
  refusal: 'E_INVALID_DECISION',
})
const forgedId = (name: string, id: (gate: Gate) => unknown): Case => ({
  name: `forged: ${name}`,
  decisions: decide((gate) => ({ gate: id(gate) })),
  refusal: 'E_NOT_FOUND',
})
const wrongDigest = (name: string, digest: (gate: Gate) => string): Case => ({
  name: `altered: ${name}`,
  decisions: decide((gate) => ({ digest: digest(gate) })),
  refusal: 'E_GATE_STATE',
})
const badEdit = (name: string, args: unknown): Case => ({
  name: `edited: ${name}`,
  decisions: decide(() => ({ args })),
  refusal: 'E_INVALID_DECISION',
})
const later = (name: string, before: Case['before'], refusal = 'E_GATE_STATE'): Case => ({
  name,
  decisions: decide(() => ({})),
  ...(before && { before }),
  refusal,
})
const stale = (name: string, tools: (paid: unknown[]) => Tool[]): Case => ({
  name: `stale: ${name}`,
  decisions: decide(() => ({})),
  tools,
  refusal: 'refused',
})
const otherSchema = (schema: JsonObject | z.ZodType) => (paid: unknown[]) => [
  new Tool({
    name: 'pay',
    description: 'Pays somebody.',
    inputSchema: schema as never,
    effect: 'write',
    approval: true,
    handler: (args) => {
      paid.push(args)
      return 'x'
    },
  }) as Tool,
]

const cyclic: Record<string, unknown> = { to: 'x' }
cyclic['self'] = cyclic

const CASES: readonly Case[] = [
  forgedId('an id that nobody gave out', () => 'gate-1'),
  forgedId('an id of the right form', () => crypto.randomUUID()),
  forgedId('the id of the call', ({ toolCallId }) => toolCallId),
  forgedId('the digest as an id', ({ digest }) => digest),
  forgedId('the id of the turn', ({ turnId }) => turnId),
  forgedId('an id with a space behind it', ({ id }) => `${id} `),
  forgedId('an id in other letters', ({ id }) => id.toUpperCase().replace(/^/, 'X')),
  forgedId('a name of the prototype', () => '__proto__'),
  { ...malformed('no gate', {}), decisions: () => [{ approve: true, decidedBy: 'ann' }] },
  { ...malformed('an empty gate', {}), decisions: decide(() => ({ gate: '' })) },
  { ...malformed('a gate that is an object', {}), decisions: decide(() => ({ gate: {} })) },
  { ...malformed('null', {}), decisions: () => [null] },
  { ...malformed('a string', {}), decisions: ({ gate }) => [gate.id] },
  malformed('approve is the string "false"', { approve: 'false' }),
  malformed('approve is the string "true"', { approve: 'true' }),
  malformed('approve is 1', { approve: 1 }),
  malformed('approve is missing', { approve: undefined }),
  malformed('approve is an object', { approve: {} }),
  malformed('nobody decided', { decidedBy: '' }),
  malformed('decidedBy is missing', { decidedBy: undefined }),
  malformed('decidedBy is a number', { decidedBy: 7 }),
  malformed('an unknown key', { state: 'approved' }),
  malformed('a verdict of its own', { verdict: 'approved' }),
  malformed('a digest that is no text', { digest: 1 }),
  malformed('a reason that is no text', { reason: {} }),
  malformed('a denial with arguments', { approve: false, args: { to: 'eve' } }),
  wrongDigest('another digest', () => '0'.repeat(64)),
  wrongDigest('an empty digest', () => ''),
  wrongDigest('a digest that lacks a digit', ({ digest }) => digest.slice(1)),
  wrongDigest('a digest in capitals', ({ digest }) => digest.toUpperCase().replace(/^./, 'F')),
  badEdit('to arguments of another type', { to: 5 }),
  badEdit('to nothing', {}),
  badEdit('to a list', []),
  badEdit('to a text', '{"to":"eve"}'),
  badEdit('to null', null),
  badEdit('to a date', { to: new Date() }),
  badEdit('to what is not finite', { to: 'x', amount: Number.NaN }),
  badEdit('to a cycle', cyclic),
  later('replayed: approved before', once),
  later('replayed: denied before', async ({ store, gate }) => {
    await store.decideGate('k', gate.id, { verdict: 'denied', decidedBy: 'ann' })
  }),
  later('expired: by a millisecond', ({ clock }) => clock.advance(DAY)),
  later('expired: by a year', ({ clock }) => clock.advance(365 * DAY)),
  later('abandoned: the conversation went on', async ({ resumeWith }) => {
    await resumeWith().runner.run({ conversation: 'k', message: 'never mind' })
  }),
  later('deleted: the conversation is gone', ({ store }) => store.delete('k'), 'E_NOT_FOUND'),
  {
    name: 'double: two answers in one request',
    decisions: ({ gate }) => [yes(gate), { ...yes(gate), approve: false }],
    refusal: 'E_GATE_STATE',
  },
  {
    name: 'foreign: the gate of another conversation',
    decisions: decide(() => ({})),
    before: async ({ store }) => {
      const model = scriptedModel([[{ text: 'hi' }]])
      await new TurnRunner({ model, store }).run({ conversation: 'other', message: 'hi' })
    },
    conversation: 'other',
    refusal: 'E_NOT_FOUND',
  },
  {
    name: 'foreign: a conversation that does not exist',
    decisions: decide(() => ({})),
    conversation: 'nowhere',
    refusal: 'E_NOT_FOUND',
  },
  stale('the tool is gone', () => []),
  stale('the tool says something else', (paid) => [payTool(paid, { description: 'Pays double.' })]),
  stale('the tool takes something else', otherSchema(z.object({ to: z.string() }))),
  stale('the tool of that name is another one', otherSchema({ type: 'object' })),
  stale('the tool changed what it does', (paid) => [
    new Tool({
      name: 'pay',
      description: 'Pays somebody.',
      inputSchema: paySchema,
      effect: 'idempotent',
      handler: (args) => {
        paid.push(args)
        return 'x'
      },
    }),
  ]),
]

async function attack(attempt: Case) {
  const situation = await suspended()
  await attempt.before?.(situation)
  const paidBefore = situation.paid.length
  const { runner } = situation.resumeWith(attempt.tools?.(situation.paid) ?? undefined)
  const conversation = attempt.conversation ?? 'k'
  const decisions = attempt.decisions(situation) as GateAnswer[]
  try {
    const { toolCalls } = await runner.resume({ conversation, decisions })
    return {
      refusal: toolCalls[0]?.settlement,
      paid: situation.paid.length - paidBefore,
      situation,
    }
  } catch (error) {
    const refusal = isBobbinError(error) ? error.code : String(error)
    return { refusal, paid: situation.paid.length - paidBefore, situation }
  }
}

describe('a decision that does not hold', () => {
  it('comes in at least 50 forms', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(50)
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length)
  })

  it.each(CASES)('is refused and runs nothing: $name', async (attempt) => {
    const { refusal, paid } = await attack(attempt)
    expect({ refusal, paid }).toEqual({ refusal: attempt.refusal, paid: 0 })
  })

  it.each(CASES.filter(({ name }) => /^(forged|malformed|altered|edited)/.test(name)))(
    'leaves the gate waiting for one that does: $name',
    async (attempt) => {
      const { situation } = await attack(attempt)
      const { gate, resumeWith, paid } = situation
      const outcome = await resumeWith().runner.resume({
        conversation: 'k',
        decisions: [yes(gate)],
      })
      expect(outcome.status).toBe('completed')
      expect(paid).toHaveLength(1)
    },
  )

  it('is settled as refused when somebody put invalid arguments into the store itself', async () => {
    const { store, gate, resumeWith, paid } = await suspended()
    const args = { to: 5 }
    await store.decideGate('k', gate.id, { verdict: 'edited', decidedBy: 'eve', args })
    const outcome = await resumeWith().runner.resume({ conversation: 'k', decisions: [] })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'refused' }])
    expect(paid).toEqual([])
  })

  it('is refused when the call that was approved is another one by now', async () => {
    const { store, gate, paid, clock } = await suspended()
    const altered: typeof store = {
      ...store,
      async *entries(...given) {
        for await (const entry of store.entries(...given)) {
          const isCall = entry.kind === 'history-item' && entry.data['type'] === 'call'
          yield isCall ? { ...entry, data: { ...entry.data, args: { to: 'eve' } } } : entry
        }
      },
    }
    const model = scriptedModel([[{ text: 'done' }]])
    const runner = new TurnRunner({
      model,
      tools: [payTool(paid)],
      store: altered,
      testing: { clock },
    })
    const outcome = await runner.resume({ conversation: 'k', decisions: [yes(gate)] })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'refused' }])
    expect(paid).toEqual([])
  })

  it('is abandoned when a good decision was not used in its time', async () => {
    const { store, gate, resumeWith, paid, clock } = await suspended()
    await store.decideGate('k', gate.id, { verdict: 'approved', decidedBy: 'ann' })
    clock.advance(DAY)
    const outcome = await resumeWith().runner.resume({ conversation: 'k', decisions: [] })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'abandoned' }])
    expect(paid).toEqual([])
  })
})

describe('approve', () => {
  async function inProcess(approve: Approve) {
    const paid: unknown[] = []
    const store = memoryStore()
    const call = { call: 'pay', args: { to: 'bob' }, id: 'c1' }
    const good = { call: 'pay', args: { to: 'good' }, id: 'c2' }
    const model = scriptedModel([[call, good], [{ text: 'ok' }]])
    const asked: string[] = []
    const decider: Approve = (request) => {
      asked.push(request.id)
      return request.toolCallId === 'c2' ? true : approve(request)
    }
    const runner = new TurnRunner({ model, tools: [payTool(paid)], store, approve: decider })
    const recorder = eventRecorder(runner)
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    model.done()
    return { outcome, paid, store, recorder, asked }
  }

  it('decides without suspending, and the log tells who decided', async () => {
    const { outcome, paid, store, asked } = await inProcess(async () => ({
      approve: true,
      decidedBy: 'ann',
    }))
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }, {}] })
    expect(paid).toHaveLength(2)
    const gate = await store.gate('k', asked[0] ?? '')
    expect(gate).toMatchObject({ state: 'consumed', decision: { decidedBy: 'ann' } })
  })

  it('runs edited arguments as a linked record', async () => {
    const args = { to: 'carol', amount: 3 }
    const { outcome, paid } = await inProcess(async () => ({
      approve: true,
      decidedBy: 'ann',
      args,
    }))
    expect(paid).toContainEqual(args)
    expect(outcome.toolCalls.find(({ editOf }) => editOf === 'c1')).toMatchObject({
      id: 'c1~2',
      args,
    })
  })

  it.each([
    ['says no', async () => false],
    ['throws', async () => Promise.reject(new Error('no terminal'))],
    ['is about something else', async () => ({ approve: true, decidedBy: 'ann', digest: 'x' })],
    [
      'edits to invalid arguments',
      async () => ({ approve: true, decidedBy: 'a', args: { to: 1 } }),
    ],
    ['gives nonsense', async () => 'yes' as never],
    ['does not say who', async () => ({ approve: true }) as never],
  ] as [string, Approve][])(
    'denies one call and breaks no other when it %s',
    async (_, approve) => {
      const { outcome, paid, store } = await inProcess(approve)
      expect(outcome.status).toBe('completed')
      expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(['denied', 'ok'])
      expect(paid).toEqual([{ to: 'good', amount: 1 }])
      expect(await store.openGates('k')).toEqual([])
    },
  )
})
