import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { Usage } from '../../model/events/model-event.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import {
  type ScriptedModel,
  type ScriptedPart,
  type ScriptedStep,
  scriptedModel,
} from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ExecutorDecision } from '../executor/executor.ts'
import { subAgent } from '../nested/sub-agent.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'

const cost = (inputTokens: number, outputTokens = 1): Usage => ({ inputTokens, outputTokens })
const counted = (inputTokens: number, outputTokens = 1) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 0,
  reasoningTokens: 0,
})
const step = (parts: readonly ScriptedPart[], inputTokens: number): ScriptedStep => ({
  parts,
  usage: cost(inputTokens),
})
const ask = (id = 'r1', name = 'agent') => ({ call: name, args: { task: 'x' }, id })
const agent = (options: TurnRunnerOptions, more: object = {}): Tool =>
  subAgent({ name: 'agent', description: 'Does it.', agent: options, ...more })

/** What the log says each turn cost, by conversation. */
async function logged(store: Store) {
  const { entries } = await store.find({ kind: 'turn-end' })
  return entries.map(({ conversation, entry }) => [
    conversation,
    entry.kind === 'turn-end' ? entry.data.usage : undefined,
  ])
}

describe('the usage of a turn', () => {
  it('adds up what was read from caches and what was written to them', async () => {
    const read = { inputTokens: 9, outputTokens: 1, cachedInputTokens: 5, cacheWriteTokens: 3 }
    const model = scriptedModel([
      { parts: [{ call: 'idle', id: 'c1' }], usage: cost(4) },
      { parts: [{ call: 'idle', id: 'c2' }], usage: read },
      { parts: [{ text: 'so' }], usage: read },
    ])
    const runner = new TurnRunner({ model, tools: [sampleTool('idle', () => 'x')] })
    const { usage } = await runner.run({ message: 'go' })
    expect(usage).toEqual({
      inputTokens: 22,
      outputTokens: 3,
      cachedInputTokens: 10,
      cacheWriteTokens: 6,
      reasoningTokens: 0,
    })
  })

  it('has that of its sub-agents in it, says how much it was, and is told alike everywhere', async () => {
    const store = memoryStore()
    const inner = scriptedModel([step([{ call: 'look' }], 100), step([{ text: 'seen' }], 200)])
    const tool = agent({ model: inner, tools: [sampleTool('look', () => 'x')] })
    const model = scriptedModel([step([ask()], 10), step([{ text: 'done' }], 20)])
    const runner = new TurnRunner({ model, tools: [tool], store })
    const recorder = eventRecorder(runner)
    const { usage } = await runner.run({ message: 'go', conversation: 'k' })
    expect(usage).toEqual({ ...counted(330, 4), nested: counted(300, 2) })
    const ends = recorder.events.flatMap((event) =>
      event.name === 'turnEnd' ? [[event.origin.conversation, event.content.usage]] : [],
    )
    expect(ends).toEqual([
      ['k/r1', counted(300, 2)],
      ['k', usage],
    ])
    expect(new Map((await logged(store)) as [string, unknown][])).toEqual(
      new Map(ends as [string, unknown][]),
    )
    const requests = recorder.of('iterationEnd').map((event) => event.usage?.inputTokens)
    expect(requests).toEqual([100, 200, 10, 20])
  })

  it('says nothing of sub-agents where none cost anything', async () => {
    const model = scriptedModel([step([ask()], 10), step([{ text: 'done' }], 20)])
    const free = agent({ executor: async () => ({ answer: 'by rules' }) })
    const { usage } = await new TurnRunner({ model, tools: [free] }).run({ message: 'go' })
    expect(usage).toEqual(counted(30, 2))
  })

  it('counts each level in every turn around it, also side by side', async () => {
    const leaf = () => scriptedModel([step([{ text: 'leaf' }], 1)])
    const middle = () => {
      const tools = ['a', 'b'].map((name) =>
        subAgent({ name, description: name, agent: { model: leaf() } }),
      )
      const calls = [ask('x', 'a'), ask('y', 'b')]
      return { model: scriptedModel([step(calls, 10), step([{ text: 'm' }], 10)]), tools }
    }
    const tools = ['left', 'right'].map((name) =>
      subAgent({ name, description: name, agent: middle() }),
    )
    const calls = [ask('l', 'left'), ask('r', 'right')]
    const model = scriptedModel([step(calls, 100), step([{ text: 'done' }], 100)])
    const store = memoryStore()
    const runner = new TurnRunner({ model, tools, store })
    const { usage } = await runner.run({ message: 'go', conversation: 'k' })
    expect(usage).toEqual({ ...counted(244, 10), nested: counted(44, 8) })
    const byConversation = new Map((await logged(store)) as [string, unknown][])
    expect(byConversation.get('k/l')).toEqual({ ...counted(22, 4), nested: counted(2, 2) })
    expect(byConversation.get('k/r/y')).toEqual(counted(1))
    expect(byConversation.size).toBe(7)
  })

  it('has what a sub-agent cost that failed', async () => {
    const inner = scriptedModel([step([{ call: 'look' }], 100), { error: new Error('inner bug') }])
    const tool = agent({ model: inner, tools: [sampleTool('look', () => 'x')] })
    const model = scriptedModel([step([ask()], 10), step([{ text: 'done' }], 20)])
    const { usage, toolCalls } = await new TurnRunner({ model, tools: [tool] }).run({
      message: 'go',
    })
    expect(toolCalls).toMatchObject([{ settlement: 'failed' }])
    expect(usage).toEqual({ ...counted(130, 3), nested: counted(100) })
  })

  it.each([
    ['timed out', 'timed-out', 'completed', { timeoutMs: 200 }],
    ['was aborted', 'aborted', 'aborted', {}],
  ])('has what a sub-agent cost that %s', async (_, settlement, status, more) => {
    const hangs = byHand()
    const abort = new AbortController()
    const look = sampleTool('look', () => {
      if (status === 'aborted') setTimeout(() => abort.abort(), 20)
      return 'x'
    })
    const inner = scriptedModel([step([{ call: 'look' }], 100), { until: hangs.promise }])
    const tool = agent({ model: inner, tools: [look] }, more)
    const model = scriptedModel([step([ask()], 10), step([{ text: 'done' }], 20)])
    const outcome = await new TurnRunner({ model, tools: [tool] }).run({
      message: 'go',
      signal: abort.signal,
    })
    expect(outcome).toMatchObject({ status, toolCalls: [{ settlement }] })
    expect(outcome.usage.nested).toEqual(counted(100))
  })

  it('counts every request once over suspension and resumption', async () => {
    const store = memoryStore()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const run = (inner: ScriptedModel, model: ScriptedModel) =>
      new TurnRunner({ model, tools: [agent({ model: inner, tools: [pay] })], store })
    const first = await run(
      scriptedModel([step([{ call: 'pay' }], 100)]),
      scriptedModel([step([ask()], 10)]),
    ).run({ message: 'go', conversation: 'k' })
    expect(first.status).toBe('suspended')
    expect(first.usage).toEqual({ ...counted(110, 2), nested: counted(100) })
    const [gate] = first.gates
    const second = await run(
      scriptedModel([step([{ text: 'paid' }], 200)]),
      scriptedModel([step([{ text: 'done' }], 20)]),
    ).resume({
      conversation: 'k',
      decisions: [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann' }],
    })
    expect(second.status).toBe('completed')
    expect(second.usage).toEqual({ ...counted(220, 2), nested: counted(200) })
  })

  it('counts every request once when a second process picks the turn up', async () => {
    const store = memoryStore()
    const begun = byHand()
    const hangs = sampleTool('look', () => {
      begun.resolve()
      return new Promise<string>(() => {})
    })
    const dead = new TurnRunner({
      store,
      model: scriptedModel([step([ask()], 10)]),
      tools: [agent({ model: scriptedModel([step([{ call: 'look' }], 100)]), tools: [hangs] })],
    })
    void dead.run({ message: 'go', conversation: 'k' })
    await begun.promise
    const { epoch } = await store.acquire('k', { owner: 'operator', force: true })
    await store.release('k', epoch)
    const look = sampleTool('look', () => 'seen')
    const next = new TurnRunner({
      store,
      model: scriptedModel([step([{ text: 'done' }], 20)]),
      tools: [agent({ model: scriptedModel([step([{ text: 'ok' }], 200)]), tools: [look] })],
    })
    const outcome = await next.recover({ conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(outcome.usage).toEqual({ ...counted(220, 2), nested: counted(200) })
  })

  it('counts a request that had to be repeated as the model told of it', async () => {
    const broken = new BobbinError('E_STREAM_BROKEN', 'cut', { reason: 'cut' })
    const inner = scriptedModel([{ error: broken }, step([{ text: 'ok' }], 100)])
    const model = scriptedModel([{ error: broken }, step([ask()], 10), step([{ text: 'x' }], 20)])
    const sleep = async () => {}
    const tools = [agent({ model: inner, testing: { sleep } })]
    const { usage } = await new TurnRunner({ model, tools, testing: { sleep } }).run({
      message: 'go',
    })
    expect(usage).toEqual({ ...counted(130, 3), nested: counted(100) })
  })

  it.each([
    ['texts', { inputTokens: '12', outputTokens: '3' }],
    ['no numbers', { inputTokens: Number.NaN, outputTokens: Number.POSITIVE_INFINITY }],
    ['fractions and debts', { inputTokens: 0.5, outputTokens: -3 }],
    ['null', null],
    ['a text', 'many'],
  ])('leaves out what cannot be counted: %s', async (_, usage) => {
    const store = memoryStore()
    const decisions = [
      { calls: [], usage: cost(5) },
      { answer: 'done', usage },
    ]
    const executor = async () => decisions.shift() as ExecutorDecision
    const runner = new TurnRunner({ executor, store })
    const recorder = eventRecorder(runner)
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', usage: counted(5) })
    expect(await logged(store)).toEqual([['k', counted(5)]])
    expect(recorder.of('turnEnd')).toMatchObject([{ usage: counted(5) }])
  })

  it('cannot be changed by whoever hears of it', async () => {
    const model = scriptedModel([step([ask()], 10), step([{ text: 'done' }], 20)])
    const tools = [agent({ model: scriptedModel([step([{ text: 'ok' }], 100)]) })]
    const runner = new TurnRunner({ model, tools })
    let told: object | undefined
    runner.observe('turnEnd', ({ usage }) => {
      told = usage
    })
    const { usage } = await runner.run({ message: 'go' })
    expect(told).toBe(usage)
    expect(Object.isFrozen(usage) && Object.isFrozen(usage.nested)).toBe(true)
  })
})
