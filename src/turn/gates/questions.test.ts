import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import type { Gate } from '../../store/gate.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import { inputRequired, linkRequired } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import type { GivenInput } from '../../tools/tool-context.ts'
import { subAgent } from '../nested/sub-agent.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { GateAnswer } from './gate-answer.ts'

const DAY = 24 * 60 * 60 * 1000
const SCHEMA = z.object({ seat: z.enum(['window', 'aisle']) })

interface Attempt {
  readonly key: string
  readonly input: GivenInput | undefined
}

/** A tool that asks once, for a form or for a visit. */
const asking = (
  kind: 'input' | 'link',
  seen: Attempt[],
  description = 'Books a seat.',
  runOnDecline = false,
) =>
  new Tool({
    name: 'book',
    description,
    inputSchema: z.object({ flight: z.string() }),
    effect: 'write',
    handler: ({ flight }, { input, idempotencyKey: key }) => {
      seen.push({ key, input })
      if (input !== undefined) return `Booked ${flight}.`
      const more = { state: kind === 'input' ? { flight } : [flight], runOnDecline }
      return kind === 'input'
        ? inputRequired({ message: 'Which seat?', schema: SCHEMA, ...more })
        : linkRequired({ message: 'Sign in.', url: 'https://bücher.example/a', ...more })
    },
  }) as Tool

const CALL = [{ call: 'book', args: { flight: 'X1' }, id: 'c1' }]

async function suspended(
  kind: 'input' | 'link',
  store: Store = memoryStore(),
  more: { readonly clock?: ReturnType<typeof testClock> } = {},
) {
  const seen: Attempt[] = []
  const testing = { ...(more.clock && { clock: more.clock }) }
  const first = new TurnRunner({
    model: scriptedModel([CALL]),
    tools: [asking(kind, seen)],
    store,
    testing,
  })
  const outcome = await first.run({ conversation: 'k', message: 'Book it.' })
  const model = scriptedModel([[{ text: 'done' }]])
  const runner = new TurnRunner({ model, tools: [asking(kind, seen)], store, testing })
  const resume = (...decisions: readonly unknown[]) =>
    runner.resume({ conversation: 'k', decisions: decisions as GateAnswer[] })
  return { seen, outcome, gate: outcome.gates[0] as Gate, model, runner, resume, store, testing }
}

const FITTING = { input: { value: { seat: 'aisle' } }, link: { done: true } } as const
const KEPT = { input: { flight: 'X1' }, link: ['X1'] } as const
const KINDS = ['input', 'link'] as const

describe.each(KINDS)('a handler that asks for %s', (kind) => {
  const fitting = (gate: Gate) => ({ gate: gate.id, decidedBy: 'ann', ...FITTING[kind] })

  it('suspends the turn without a settlement, and runs again with the answer under the same key', async () => {
    const { seen, outcome, gate, model, resume, store } = await suspended(kind)
    expect(outcome).toMatchObject({ status: 'suspended', toolCalls: [], reason: { code: 'GATE' } })
    expect(gate).toMatchObject({ kind, from: 'runner', tool: 'book', args: { flight: 'X1' } })
    expect(gate.why).toMatch(
      /^This call waits because its tool asks a person .*`approve: false`\.$/,
    )
    expect([gate.message, gate.url, gate.schema?.['type']]).toEqual(
      kind === 'input'
        ? ['Which seat?', undefined, 'object']
        : ['Sign in.', 'https://xn--bcher-kva.example/a', undefined],
    )
    const after = await resume(fitting(gate))
    expect(after).toMatchObject({ status: 'completed', text: 'done', gates: [] })
    expect(after.toolCalls).toMatchObject([{ id: 'c1', settlement: 'ok' }])
    expect(seen.map(({ input }) => input)).toEqual([
      undefined,
      { ...FITTING[kind], state: KEPT[kind] },
    ])
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1)
    const stored = await store.gate('k', gate.id)
    expect(stored).toMatchObject({ state: 'consumed', decision: { verdict: 'answered' } })
    expect(JSON.stringify(model.requests)).not.toMatch(/Which seat|Sign in|bcher/)
    expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
  })

  it('runs again when the person declines, if it has `runOnDecline`', async () => {
    const seen: Attempt[] = []
    const store = memoryStore()
    const runner = new TurnRunner({
      model: scriptedModel([CALL, [{ text: 'done' }]]),
      tools: [asking(kind, seen, 'Books a seat.', true)],
      store,
    })
    const { gates } = await runner.run({ conversation: 'k', message: 'Book it.' })
    const decisions = gates.map(({ id: gate }) => ({ gate, decidedBy: 'ann', approve: false }))
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'ok' }])
    expect(seen.map(({ input }) => input)).toEqual([
      undefined,
      { declined: true, state: KEPT[kind] },
    ])
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1)
    expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
  })

  it('is in the feed like any gate', async () => {
    const { outcome, runner, resume, gate } = await suspended(kind)
    await resume(fitting(gate))
    const events: FeedEvent[] = []
    for await (const event of runner.follow({ conversation: 'k' })) events.push(event)
    const gates = events.flatMap((event) =>
      event.type === 'gateOpened' || event.type === 'gateDecided' ? [event] : [],
    )
    expect(gates[0]).toMatchObject({ type: 'gateOpened', gate: outcome.gates[0] })
    expect(gates[1]).toMatchObject({ type: 'gateDecided', decidedBy: 'ann' })
    expect(gates).toHaveLength(2)
  })

  it('is answered after a restart, from another process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-questions-'))
    try {
      const before = sqliteStore(join(folder, 'a.db'))
      const { seen, gate } = await suspended(kind, before)
      await before.close()
      const store = sqliteStore(join(folder, 'a.db'))
      const [open] = await store.openGates('k')
      expect(open).toEqual(gate)
      const model = scriptedModel([[{ text: 'done' }]])
      const runner = new TurnRunner({ model, tools: [asking(kind, seen)], store })
      const outcome = await runner.resume({ conversation: 'k', decisions: [fitting(gate)] })
      expect(outcome.toolCalls).toMatchObject([{ settlement: 'ok' }])
      expect(seen.at(-1)?.input).toEqual({ ...FITTING[kind], state: KEPT[kind] })
      expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
      await store.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('is answered inside a sub-agent, through the gate of the outer turn', async () => {
    const seen: Attempt[] = []
    const store = memoryStore()
    const runnerWith = (isAgain: boolean) => {
      const agent = {
        model: scriptedModel(isAgain ? [[{ text: 'inner done' }]] : [CALL]),
        tools: [asking(kind, seen)],
      }
      const call = { call: 'travel', args: { task: 'Book.' }, id: 'r1' }
      return new TurnRunner({
        model: scriptedModel(isAgain ? [[{ text: 'done' }]] : [[call]]),
        tools: [subAgent({ name: 'travel', description: 'Books travels.', agent })],
        store,
      })
    }
    const { gates } = await runnerWith(false).run({ conversation: 'k', message: 'Go.' })
    const [gate] = gates
    expect(gate).toMatchObject({ kind, conversation: 'k', tool: 'book' })
    expect(await store.openGates()).toEqual(gates)
    const wrong = { gate: gate?.id ?? '', decidedBy: 'ann', approve: true }
    await expect(
      runnerWith(true).resume({ conversation: 'k', decisions: [wrong] }),
    ).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
    const decisions = [fitting(gate as Gate)]
    const outcome = await runnerWith(true).resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', text: 'done' })
    expect(seen.at(-1)?.input).toEqual({ ...FITTING[kind], state: KEPT[kind] })
    expect(await store.openGates()).toEqual([])
  })

  it.each([
    { approve: true },
    { approve: true, args: { flight: 'Y' } },
    { value: { seat: 'roof' } },
    { value: 5 },
    { value: null },
    { done: false },
    { done: true, value: { seat: 'aisle' } },
    { approve: false, done: true },
    {},
  ])('refuses %j and stays open', async (answer) => {
    const { seen, gate, resume, store } = await suspended(kind)
    const given = { gate: gate.id, decidedBy: 'ann', ...answer }
    await expect(resume(given)).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
    expect((await store.gate('k', gate.id))?.state).toBe('pending')
    expect(seen).toHaveLength(1)
  })

  it('refuses the answer to the other kind', async () => {
    const { gate, resume, store } = await suspended(kind)
    const other = kind === 'input' ? FITTING.link : FITTING.input
    await expect(resume({ gate: gate.id, decidedBy: 'ann', ...other })).rejects.toThrow(/asks for/)
    const decision = { verdict: 'approved', decidedBy: 'ann' } as const
    await expect(store.decideGate('k', gate.id, decision)).rejects.toThrow(/`answered` or `denied`/)
    expect((await store.gate('k', gate.id))?.state).toBe('pending')
  })

  it('takes one answer', async () => {
    const { seen, gate, resume } = await suspended(kind)
    await resume(fitting(gate))
    await expect(resume(fitting(gate))).rejects.toMatchObject({ code: 'E_GATE_STATE' })
    expect(seen).toHaveLength(2)
  })

  it('settles as denied when a person declines', async () => {
    const { seen, gate, resume, model } = await suspended(kind)
    const no = { gate: gate.id, decidedBy: 'ann', approve: false, reason: 'Not today.' }
    expect((await resume(no)).toolCalls).toMatchObject([{ settlement: 'denied' }])
    expect(JSON.stringify(model.requests)).toContain('Not today.')
    expect(seen).toHaveLength(1)
  })

  it('settles as abandoned when the conversation continues without an answer', async () => {
    const { seen, gate, runner, resume, store } = await suspended(kind)
    const { toolCalls } = await runner.run({ conversation: 'k', message: 'Never mind.' })
    expect(toolCalls).toMatchObject([{ id: 'c1', settlement: 'abandoned' }])
    await expect(resume(fitting(gate))).rejects.toMatchObject({ code: 'E_GATE_STATE' })
    expect([seen.length, await store.openGates()]).toEqual([1, []])
  })

  it('settles as abandoned when its time is over, and takes no late answer', async () => {
    const clock = testClock()
    const { seen, gate, resume } = await suspended(kind, memoryStore({ clock }), { clock })
    clock.advance(DAY)
    await expect(resume(fitting(gate))).rejects.toMatchObject({ code: 'E_GATE_STATE' })
    expect((await resume()).toolCalls).toMatchObject([{ settlement: 'abandoned' }])
    expect(seen).toHaveLength(1)
  })

  it('does not run again when its tool has changed meanwhile', async () => {
    const { seen, gate, store } = await suspended(kind)
    const model = scriptedModel([[{ text: 'done' }]])
    const tools = [asking(kind, seen, 'Does something else.')]
    const runner = new TurnRunner({ model, tools, store })
    const { toolCalls } = await runner.resume({ conversation: 'k', decisions: [fitting(gate)] })
    expect(toolCalls).toMatchObject([{ settlement: 'refused' }])
    expect(seen).toHaveLength(1)
  })

  it('stays open without an answer', async () => {
    const { gate, runner, resume } = await suspended(kind)
    expect(await resume()).toMatchObject({ status: 'suspended', gates: [{ id: gate.id }] })
    expect(await runner.recover({ conversation: 'k' })).toMatchObject({ status: 'suspended' })
  })
})

describe('a handler that asks', () => {
  it('may ask again, and keeps what it knows in `state`', async () => {
    const keys = new Set<string>()
    const tool = new Tool({
      name: 'sum',
      description: 'Adds what a person says.',
      inputSchema: z.object({}),
      effect: 'read',
      handler: (_, { input, idempotencyKey }) => {
        keys.add(idempotencyKey)
        const told = (input?.state ?? []) as number[]
        const { n } = (input?.value ?? {}) as { n?: number }
        const all = n === undefined ? told : [...told, n]
        if (all.length === 3) return all
        const schema = { type: 'object', properties: { n: { type: 'number' } } } as const
        return inputRequired({ message: `Number ${all.length + 1}?`, schema, state: all })
      },
    }) as Tool
    const model = scriptedModel([[{ call: 'sum', args: {} }], [{ text: 'done' }]])
    const runner = new TurnRunner({ model, tools: [tool], store: memoryStore() })
    let outcome = await runner.run({ conversation: 'k', message: 'Add.' })
    const asked: (string | undefined)[] = []
    for (let n = 1; outcome.status === 'suspended' && n < 9; n++) {
      const [gate] = outcome.gates
      asked.push(gate?.message)
      const decisions = [{ gate: gate?.id ?? '', decidedBy: 'ann', value: { n } }]
      outcome = await runner.resume({ conversation: 'k', decisions })
    }
    expect([asked, keys.size]).toEqual([['Number 1?', 'Number 2?', 'Number 3?'], 1])
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'ok' }])
    expect(JSON.stringify(model.requests.at(-1)?.items)).toContain('3')
  })

  it.each([
    'http://evil.example/x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https:evil.example:x',
    'http://localhost.evil.example/',
    'http://127.0.0.1.evil.example/',
    'evil',
  ])('fails with a URL like %s, which nobody reads', async (url) => {
    const tool = new Tool({
      name: 'visit',
      description: 'Visits.',
      inputSchema: z.object({}),
      effect: 'read',
      handler: () => linkRequired({ message: 'Go there.', url }),
    }) as Tool
    const model = scriptedModel([[{ call: 'visit', args: {} }], [{ text: 'done' }]])
    const runner = new TurnRunner({ model, tools: [tool] })
    const { toolCalls, status } = await runner.run({ message: 'Go.' })
    expect([status, toolCalls[0]?.settlement]).toEqual(['completed', 'failed'])
    expect(JSON.stringify(model.requests.at(-1)?.items)).not.toContain(url)
  })

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['http://localhost:3000/a', 'http://localhost:3000/a'],
    ['http://127.8.9.1/', 'http://127.8.9.1/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://[::1]:80/', 'http://[::1]/'],
    ['https://аpple.com/', 'https://xn--pple-43d.com/'],
  ])('shows %s as a browser would read it', (url, shown) => {
    expect(linkRequired({ message: 'Go.', url }).parts.url).toBe(shown)
  })

  it('is in doubt when its process dies after the answer was used, unless it may repeat', async () => {
    for (const [effect, settlement] of [
      ['write', 'in-doubt'],
      ['idempotent', 'ok'],
    ] as const) {
      const store = memoryStore()
      let runs = 0
      const tool = (dies: boolean) =>
        new Tool({
          name: 'book',
          description: 'Books.',
          inputSchema: z.object({}),
          effect,
          handler: async (_, { input }) => {
            runs++
            const schema = { type: 'object' } as const
            if (runs === 1) return inputRequired({ message: 'Sure?', schema })
            if (dies && input !== undefined) await new Promise(() => {})
            return 'booked'
          },
        }) as Tool
      const model = () => scriptedModel([[{ call: 'book', args: {} }], [{ text: 'done' }]])
      const first = new TurnRunner({ model: model(), tools: [tool(true)], store })
      const { gates } = await first.run({ conversation: 'k', message: 'Book.' })
      const decisions = [{ gate: gates[0]?.id ?? '', decidedBy: 'ann', value: {} }]
      void first.resume({ conversation: 'k', decisions }).then(undefined, () => {})
      await expect.poll(() => runs, { timeout: 5_000 }).toBe(2)
      const next = scriptedModel([[{ text: 'done' }]])
      const second = new TurnRunner({ model: next, tools: [tool(false)], store })
      const outcome = await second.recover({ conversation: 'k', force: true })
      expect(outcome.toolCalls).toMatchObject([{ settlement }])
    }
  })
})
