import { describe, expect, it } from 'vitest'
import { diesBehind } from '../../../test/mortal-store.ts'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { Settlement } from '../../records/tool-call.ts'
import type { NewEntry } from '../../store/entry.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { Middleware } from '../call/middleware.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }
const pay = { call: 'pay', args: { q: 'bob' }, id: 'p1' }
const askOnce = () => scriptedModel([[ask], [{ text: 'the answer' }]])

const research = (agent: TurnRunnerOptions, more: object = {}) =>
  subAgent({ name: 'research', description: 'Finds things out.', agent, ...more })

/** An outer turn that asks for a turn inside, whose call of `pay` waits for somebody. */
function nested(inner: ScriptedModel, more: { agent?: object; tool?: object } = {}) {
  const store = memoryStore()
  const paid: unknown[] = []
  const gated = sampleTool('pay', ({ q }) => String(paid.push(q)), {
    effect: 'write',
    approval: true,
  })
  const slow = sampleTool('slow', () => byHand<string>().promise)
  const tools = [research({ model: inner, tools: [gated, slow], ...more.agent }, more.tool)]
  const runner = (options: Omit<Partial<TurnRunnerOptions>, 'executor'> = {}) =>
    new TurnRunner({ tools, store, ...options, model: options.model ?? askOnce() })
  /** What became of the inner call, and what still waits for somebody. */
  const left = async () => {
    const call = await store.get('k/r1', 'settlement', 'p1')
    const gates = (await store.openGates()).map(({ conversation, state }) => [conversation, state])
    expect((await store.verify({ conversation: 'k/r1' })).faults).toEqual([])
    return { settlement: call?.data['settlement'], gates }
  }
  return { store, paid, runner, left }
}

const paysOnce = () => scriptedModel([[pay]])
const ABANDONED = { settlement: 'abandoned', gates: [] }

/** A layer that makes something else of what it finds. */
const instead = (settlement: Settlement, goesInside = true): Middleware => ({
  async call(subject, next) {
    if (goesInside) await next()
    return subject.record({ settlement, results: new Tokenizable('never mind') })
  },
})

const soon = () => new Promise((resolve) => setTimeout(resolve, 20))

describe('a call that settles while its inner turn waits', () => {
  it.each(['ok', 'denied', 'refused', 'aborted', 'timed-out', 'in-doubt'] as const)(
    'abandons what it waits for when a layer makes `%s` of it',
    async (settlement) => {
      const { runner, left, paid } = nested(paysOnce())
      const outcome = await runner({ middleware: [instead(settlement)] }).run({
        message: 'go',
        conversation: 'k',
      })
      expect(outcome).toMatchObject({ status: 'completed', gates: [], toolCalls: [{ settlement }] })
      expect(await left()).toEqual(ABANDONED)
      expect(paid).toEqual([])
    },
  )

  it('goes on waiting when a layer tells its failure in other words', async () => {
    const { runner, left } = nested(paysOnce())
    const middleware = [instead('failed')]
    const outcome = await runner({ middleware }).run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({
      status: 'suspended',
      gates: [{ toolCallId: 'r1' }],
      toolCalls: [],
    })
    expect((await left()).gates).toEqual([['k', 'pending']])
  })

  it('abandons what was decided already when a layer answers in its place later', async () => {
    const { runner, left, paid } = nested(paysOnce())
    const { gates } = await runner().run({ message: 'go', conversation: 'k' })
    const next = runner({
      model: scriptedModel([[{ text: 'x' }]]),
      middleware: [instead('ok', false)],
    })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const outcome = await next.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(await left()).toEqual(ABANDONED)
    expect(paid).toEqual([])
  })

  it('abandons what was decided already when its tool is gone', async () => {
    const { runner, left, paid } = nested(paysOnce())
    const { gates } = await runner().run({ message: 'go', conversation: 'k' })
    const next = runner({ model: scriptedModel([[{ text: 'x' }]]), tools: [] })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const outcome = await next.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'in-doubt' }] })
    expect(await left()).toEqual(ABANDONED)
    expect(paid).toEqual([])
  })

  it('abandons it when the inner turn stops for another reason', async () => {
    const inner = scriptedModel([[pay, { call: 'pay', args: { q: 'eve' }, id: 'p2' }]])
    const { runner, left } = nested(inner, { agent: { limits: { calls: 1 } } })
    const outcome = await runner().run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'failed' }] })
    expect(await left()).toEqual(ABANDONED)
  })

  it('abandons it when a layer of the inner turn says that all is done', async () => {
    const done: Middleware = {
      turn: async (_, next) => {
        const { reason: _reason, ...rest } = await next()
        return { ...rest, status: 'completed', text: 'all done', output: undefined }
      },
    }
    const { runner, left } = nested(paysOnce(), { agent: { middleware: [done] } })
    const outcome = await runner().run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(await left()).toEqual(ABANDONED)
  })

  it('abandons it when the turn around it is aborted', async () => {
    const { runner, left, store } = nested(scriptedModel([[pay, { call: 'slow' }]]))
    const signal = AbortSignal.timeout(20)
    const first = runner()
    const recorder = eventRecorder(first)
    const outcome = await first.run({ message: 'go', conversation: 'k', signal })
    expect(outcome).toMatchObject({ status: 'aborted', toolCalls: [{ settlement: 'aborted' }] })
    await soon()
    expect(await left()).toEqual(ABANDONED)
    const ends = (await store.find({ conversation: 'k/r1', kind: 'turn-end' })).entries
    expect(ends.map(({ entry }) => entry.data)).toMatchObject([
      { status: 'aborted' },
      { status: 'stopped', reason: { code: 'ABANDONED' } },
    ])
    expect([recorder.of('warning'), recorder.of('error')]).toEqual([[], []])
  })

  it.each(['recover', 'run'] as const)(
    'abandons it by `%s` when the process died between its record and that',
    async (how) => {
      const { runner, left, store } = nested(scriptedModel([[pay, { call: 'slow' }]]))
      const isRecord = ({ kind }: NewEntry, id: string) => kind === 'settlement' && id === 'k'
      const { mortal, died } = diesBehind(store, isRecord)
      const signal = AbortSignal.timeout(20)
      void runner({ store: mortal }).run({ message: 'go', conversation: 'k', signal })
      await died
      expect((await left()).gates).toEqual([['k/r1', 'pending']])
      const next = runner({ model: scriptedModel([[{ text: 'so' }]]) })
      // Its lease still runs.
      const { epoch } = await store.acquire('k', { owner: 'test', force: true })
      await store.release('k', epoch)
      if (how === 'recover') await next.recover({ conversation: 'k' })
      else await next.run({ message: 'and?', conversation: 'k' })
      expect(await left()).toEqual(ABANDONED)
    },
  )

  it('abandons it when its time is over', async () => {
    const inner = scriptedModel([[pay, { call: 'slow' }]])
    const { runner, left } = nested(inner, { tool: { timeoutMs: 20 } })
    const outcome = await runner().run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'timed-out' }] })
    await soon()
    expect(await left()).toEqual(ABANDONED)
  })

  it('abandons it two turns deep', async () => {
    const store = memoryStore()
    const gated = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const deepest = research({ model: paysOnce(), tools: [gated] })
    const tools = [research({ model: scriptedModel([[ask]]), tools: [deepest] })]
    const runner = new TurnRunner({ model: askOnce(), tools, store, middleware: [instead('ok')] })
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(await store.openGates()).toEqual([])
    const inside = await store.get('k/r1/r1', 'settlement', 'p1')
    expect(inside?.data['settlement']).toBe('denied')
  })

  it('leaves it to another runner that has taken the conversation meanwhile', async () => {
    const { store, runner } = nested(scriptedModel([[pay]]))
    const taken: Middleware = {
      async call(subject, next) {
        await next()
        await store.acquire('k', { owner: 'somebody', force: true })
        return subject.record({ settlement: 'ok', results: new Tokenizable('never mind') })
      },
    }
    const outcome = await runner({ middleware: [taken] }).run({ message: 'go', conversation: 'k' })
    expect(outcome.status).toBe('failed')
    expect(await store.openGates('k/r1')).toMatchObject([{ state: 'pending' }])
  })

  it('keeps its record when the store fails then, and tells whoever watches', async () => {
    const { runner, store } = nested(paysOnce())
    const failing = {
      ...store,
      openGates: async () => {
        throw new Error('out of reach')
      },
    }
    const first = runner({ store: { ...failing }, middleware: [instead('ok')] })
    const recorder = eventRecorder(first)
    const outcome = await first.run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(recorder.of('error')).toMatchObject([
      { where: 'turn' },
      { where: 'handler', toolCallId: 'r1' },
      { where: 'abandon' },
    ])
  })
})
