import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { BobbinError } from '../../core/error/error.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import {
  type ScriptedPart,
  type ScriptedStep,
  scriptedModel,
} from '../../testing/scripted-model.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import type { Middleware } from '../call/middleware.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { limitReached } from './limits.ts'
import type { TurnOutcome } from './outcome.ts'

const again: ScriptedPart = { call: 'look', args: { q: 'same secret argument' } }
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value)
const each = (index: number): ScriptedPart => ({ call: 'look', args: { q: String(index) } })

async function play(
  steps: readonly (ScriptedStep | readonly ScriptedPart[])[],
  options: Partial<TurnRunnerOptions> = {},
  tool: Partial<ToolOptions> = {},
) {
  let runs = 0
  const look = sampleTool('look', () => `seen ${++runs}`, tool as object)
  const model = scriptedModel(steps)
  const runner = new TurnRunner({
    tools: [look],
    testing: { sleep: async () => {} },
    ...options,
    model,
  } as TurnRunnerOptions)
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go' })
  return { outcome, model, recorder, runs }
}

const settlements = ({ outcome }: Awaited<ReturnType<typeof play>>) =>
  outcome.toolCalls.map(({ settlement }) => settlement)

describe('the repeat guard', () => {
  it.each([
    ['over several responses', times(20, [again])],
    ['inside one response', [times(20, again)]],
  ])('hints at 3, refuses at 5 and stops at 8, %s', async (where, steps) => {
    const played = await play(steps)
    expect(played.outcome).toMatchObject({ status: 'stopped', reason: { code: 'REPEATED_CALL' } })
    expect(played.runs).toBe(4)
    expect(settlements(played).slice(0, 8)).toEqual([...times(4, 'ok'), ...times(4, 'refused')])
    expect(played.outcome.toolCalls).toHaveLength(where === 'inside one response' ? 20 : 8)
    expect(played.recorder.of('toolExecutionStart')).toHaveLength(4)
  })

  it('acts at the configured counts and not one call later', async () => {
    const repeat = { hint: 1, refuse: 2, stop: 3 }
    const played = await play(times(5, [again]), { repeat })
    expect(played.runs).toBe(1)
    expect(settlements(played)).toEqual(['ok', 'refused', 'refused'])
    expect(played.outcome.reason?.code).toBe('REPEATED_CALL')
  })

  it('tells the model beside the result, and never echoes the arguments', async () => {
    const { model } = await play([...times(5, [again]), [{ text: 'ok' }]])
    const shown = model.requests.at(-1)?.items.filter(({ type }) => type === 'call') ?? []
    const texts = shown.map((item) => JSON.stringify((item as { result?: unknown }).result))
    expect(texts[1]).not.toContain('identical call')
    expect(texts[2]).toContain('made this identical call 3 times')
    expect(texts[4]).toContain('Refused')
    for (const text of texts) expect(text).not.toContain('same secret argument')
  })

  it.each([
    ['one after the other', times(3, [again])],
    ['side by side', [times(3, again)]],
  ])('tells it in the same words after a restart, for calls %s', async (_, steps) => {
    const store = memoryStore()
    const { outcome, model } = await play([...steps, [{ text: 'ok' }]], { store })
    const { conversation } = outcome
    const next = scriptedModel([[{ text: 'ok' }]])
    await new TurnRunner({ model: next, store }).run({ message: 'on', conversation })
    const sent = model.requests.at(-1)?.items ?? []
    expect(JSON.stringify(sent)).toContain('made this identical call 3 times')
    expect(next.requests[0]?.items.slice(0, sent.length)).toEqual(sent)
  })

  it('tells it beside the result of a call that somebody approved', async () => {
    const { model, runs } = await play(
      [...times(3, [again]), [{ text: 'ok' }]],
      { approve: async () => true },
      { approval: true },
    )
    expect(runs).toBe(3)
    expect(JSON.stringify(model.requests.at(-1)?.items)).toContain('identical call 3 times')
  })

  it('counts and spares a tool that polls', async () => {
    const counts: number[] = []
    const count: Middleware = {
      async call({ ctx, checksum }, next) {
        counts.push(ctx.toolCallCount(checksum))
        return next()
      },
    }
    const options = { middleware: [count] }
    const played = await play([...times(12, [again]), [{ text: 'ok' }]], options, { repeat: false })
    expect(played.outcome.status).toBe('completed')
    expect(played.runs).toBe(12)
    expect(counts).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
  })

  it('goes on counting where a turn waited for decisions, and anew when the user speaks', async () => {
    const store = memoryStore()
    const counts: number[] = []
    const look = sampleTool('look', () => 'seen', { approval: true })
    const count: Middleware = {
      async call({ ctx, checksum }, next) {
        counts.push(ctx.toolCallCount(checksum))
        return next()
      },
    }
    const model = scriptedModel(times(9, [again]))
    const options = { model, store, tools: [look], middleware: [count] }
    const runner = new TurnRunner({ ...options, repeat: { hint: 2, refuse: 3, stop: 5 } })
    let outcome: TurnOutcome = await runner.run({ message: 'go', conversation: 'k' })
    for (let n = 0; n < 9 && outcome.status === 'suspended'; n++) {
      const decisions = outcome.gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'a' }))
      outcome = await runner.resume({ conversation: 'k', decisions })
    }
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'REPEATED_CALL' } })
    expect(counts).toEqual([1, 2])
    expect(model.requests).toHaveLength(5)
    const next = await runner.run({ message: 'again', conversation: 'k' })
    expect(next.status).toBe('suspended')
  })

  it('counts a call once whose doubt was settled before the turn was recovered again', async () => {
    const counts: number[] = []
    const hang = () => new Promise<never>(() => {})
    const reconcile = async () => ({ happened: 'no' }) as const
    const runner = new TurnRunner({
      tools: [sampleTool('pay', hang, { effect: 'write', timeoutMs: 5, reconcile })],
      executor: async (ctx) => {
        const [first] = ctx.turnToolCalls
        if (first === undefined) return { calls: [{ tool: 'pay', args: {} }] }
        counts.push(ctx.toolCallCount(first.checksum))
        throw new Error('The service is down.')
      },
    })
    await runner.run({ message: 'go', conversation: 'k' })
    const { toolCalls } = await runner.recover({ conversation: 'k' })
    expect(toolCalls).toMatchObject([{ settlement: 'aborted', supersedes: expect.any(String) }])
    await runner.recover({ conversation: 'k' })
    expect(counts).toEqual([1, 1, 1])
  })

  it('lets the executor count, those in flight included', async () => {
    const counts: number[] = []
    const runner = new TurnRunner({
      tools: [sampleTool('look', () => 'x')],
      executor: async (ctx) => {
        const sum = ctx.turnToolCalls[0]?.checksum
        counts.push(sum === undefined ? 0 : ctx.toolCallCount(sum))
        const call = { tool: 'look', args: {} }
        return ctx.iteration === 3 ? { answer: '' } : { calls: [call, call] }
      },
    })
    await runner.run({ message: 'go' })
    expect(counts).toEqual([0, 2, 4])
  })
})

describe('the limits of a turn', () => {
  it('ends with MAX_ITERATIONS after as many model calls', async () => {
    const steps = Array.from({ length: 9 }, (_, index) => [each(index)])
    const { outcome, model } = await play(steps, { limits: { iterations: 3 } })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_ITERATIONS' } })
    expect(model.requests).toHaveLength(3)
  })

  it('ends with MAX_CALLS without running one call more, and settles the rest', async () => {
    const played = await play([[each(1), each(2), each(3)]], { limits: { calls: 2 } })
    expect(played.outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_CALLS' } })
    expect(settlements(played)).toEqual(['ok', 'ok', 'refused'])
    expect(played.runs).toBe(2)
  })

  it('lets a model answer after its last call', async () => {
    const { outcome } = await play([[each(1)], [{ text: 'done' }]], { limits: { calls: 1 } })
    expect(outcome).toMatchObject({ status: 'completed', text: 'done' })
  })

  it('ends with MAX_TIME while a tool runs, and settles it', async () => {
    const hangs = sampleTool('hangs', () => new Promise(() => {}))
    const model = scriptedModel([[{ call: 'hangs' }]])
    const runner = new TurnRunner({ model, tools: [hangs], limits: { timeMs: 30 } })
    const outcome = await runner.run({ message: 'go' })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_TIME' } })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'aborted' }])
  })

  it('ends with MAX_TIME while an executor that ignores its signal hangs', async () => {
    const runner = new TurnRunner({ executor: () => new Promise(() => {}), limits: { timeMs: 20 } })
    const outcome = await runner.run({ message: 'go' })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_TIME' } })
  })

  it('ends with MAX_TIME by the runner’s own clock, before the model is asked once more', async () => {
    let now = 0
    const clock = { now: () => now }
    const look = sampleTool('look', () => {
      now += 60_000
      return 'x'
    })
    const model = scriptedModel([[again]])
    const runner = new TurnRunner({
      model,
      tools: [look],
      testing: { clock },
      limits: { timeMs: 59_999 },
    })
    const outcome = await runner.run({ message: 'go' })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_TIME' } })
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'ok' }])
    model.done()
  })

  it('goes on while the time is just not over', () => {
    const limits = { iterations: 1, calls: 1, timeMs: 1_000, tokens: 1, cost: 1 }
    const codeAt = (now: number) => limitReached(limits, 1, 500, { now: () => now })?.code
    expect([1_500, 1_501].map(codeAt)).toEqual([undefined, 'MAX_TIME'])
  })

  it('ends with BUDGET when not even the least fits, and reports', async () => {
    const { outcome, recorder, model } = await play([], { budget: { maxTokens: 20 } })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'BUDGET' } })
    expect(recorder.of('budget')).toMatchObject([{ fits: false, limit: 20 }])
    expect(model.requests).toHaveLength(0)
  })

  it('turns old results into handles before anything is dropped, and offers tools to read them', async () => {
    const big = sampleTool('big', ({ q }) => `${q} `.repeat(6_000))
    const steps = ['a', 'b', 'c', 'd'].map((q) => [{ call: 'big', args: { q }, id: q }])
    const model = scriptedModel([...steps, [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [big], budget: { maxTokens: 10_000 } })
    const recorder = eventRecorder(runner)
    const outcome = await runner.run({ message: 'go' })
    expect(outcome.status).toBe('completed')
    const reports = recorder.of('budget')
    expect(reports.flatMap(({ turnedToHandles }) => turnedToHandles)).toContain('a')
    expect(reports.flatMap(({ dropped }) => dropped)).toEqual([])
    for (const { total, limit } of reports) expect(total.tokens).toBeLessThanOrEqual(limit)
    // The tools that came with the first handle are counted in the request that carries them.
    const offers = model.requests.findIndex(({ tools = [] }) => tools.length > 1)
    expect(reports.at(-1)?.parts.tools.tokens).toBeGreaterThan(reports[0]?.parts.tools.tokens ?? 0)
    expect(reports).toHaveLength(model.requests.length + 1)
    expect(reports[offers + 1]?.parts.tools).toEqual(reports.at(-1)?.parts.tools)
    const tools = model.requests.at(-1)?.tools?.map(({ name }) => name) ?? []
    expect(tools).toContain('artifact_grep')
  })
})

const failure = (isRetryable: boolean) =>
  new BobbinError('E_PROVIDER_UNAVAILABLE', 'overloaded', {
    api: 'x',
    isRetryable,
    retryAfterMs: 7,
  })

describe('retries', () => {
  it('asks again after a failure that may pass, with ids that tell the attempts apart', async () => {
    const pauses: number[] = []
    const sleep = async (ms: number) => void pauses.push(ms)
    const { outcome, recorder } = await play(
      [
        { parts: [{ text: 'hal' }], error: failure(true) },
        { parts: [{ text: 'half' }], breaksOff: true },
        [{ text: 'whole' }],
      ],
      { testing: { sleep } },
    )
    expect(outcome).toMatchObject({ status: 'completed', text: 'whole' })
    expect(pauses).toEqual([7, 500])
    expect(recorder.of('warning').map(({ code }) => code)).toEqual(['MODEL_RETRY', 'MODEL_RETRY'])
    expect(new Set(recorder.of('message').map(({ id }) => id)).size).toBe(3)
  })

  it.each([
    ['a failure that does not pass', [{ error: failure(false) }], 'MODEL_FAILED', 1],
    ['too many failures', times(3, { error: failure(true) }), 'MODEL_FAILED', 3],
    ['an error of the executor', [{ error: new Error('bug') }], 'EXECUTOR_FAILED', 1],
  ])('ends the turn as failed after %s', async (_, steps, code, requests) => {
    const { outcome, model } = await play(steps)
    expect(outcome).toMatchObject({ status: 'failed', reason: { code } })
    expect(model.requests).toHaveLength(requests)
  })

  it('names the error behind a failure, in the outcome and in the log', async () => {
    const store = memoryStore()
    const { outcome } = await play([{ error: failure(false) }], { store })
    const reason = { code: 'MODEL_FAILED', errorCode: 'E_PROVIDER_UNAVAILABLE' }
    expect(outcome.reason).toMatchObject(reason)
    const { entries } = await store.find({ kind: 'turn-end' })
    expect(entries).toMatchObject([{ entry: { data: { status: 'failed', reason } } }])

    const broken = await play([{ error: new Error('bug') }])
    expect(broken.outcome.reason).toEqual({ code: 'EXECUTOR_FAILED', message: 'bug' })
  })

  it.each([
    [5_000, [5_000, 5_000]],
    [3_600_000, [60_000, 60_000]],
    [undefined, [250, 500]],
  ])('waits as long as it is asked to, within reason: %s', async (retryAfterMs, pauses) => {
    const error = new BobbinError('E_PROVIDER_UNAVAILABLE', 'overloaded', {
      provider: 'p',
      isRetryable: true,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    } as never)
    const waited: number[] = []
    const sleep = async (ms: number) => void waited.push(ms)
    const { outcome } = await play([{ error }, { error }, [{ text: 'ok' }]], { testing: { sleep } })
    expect(outcome.status).toBe('completed')
    expect(waited).toEqual(pauses)
  })

  it('never runs a call of a response that broke off', async () => {
    const steps = [{ parts: [each(1)], breaksOff: true }, [{ text: 'ok' }]]
    const { runs, outcome } = await play(steps)
    expect(runs).toBe(0)
    expect(outcome.toolCalls).toEqual([])
  })
})

describe('a response that the model did not finish', () => {
  const unfinished = [{ tool: 'look', callId: 'c1', rawArgs: '{"q":"a"}' }]

  it('has its calls told and refused, and goes on when it was cut for length', async () => {
    const played = await play([{ unfinished, finish: 'length' }, [{ text: 'shorter' }]])
    expect(played.outcome).toMatchObject({ status: 'completed', text: 'shorter' })
    expect(settlements(played)).toEqual(['refused'])
    expect(played.runs).toBe(0)
    const told = played.recorder.of('toolCall')
    expect(told.map(({ id, isComplete }) => [id, isComplete])).toEqual([
      ['c1', false],
      ['c1', true],
    ])
  })

  it.each(['filter', 'refusal', 'error', 'other'] as const)(
    'has its calls told and refused, and stops when it ended with %s',
    async (finish) => {
      const played = await play([{ unfinished, finish }])
      expect(played.outcome).toMatchObject({ status: 'stopped', reason: { code: 'MODEL_STOPPED' } })
      expect(settlements(played)).toEqual(['refused'])
      expect(played.runs).toBe(0)
    },
  )

  it('stops a model that breaks off at the same place for ever', async () => {
    const played = await play(times(20, { unfinished, finish: 'length' as const }))
    expect(played.outcome.reason?.code).toBe('REPEATED_CALL')
    expect(played.outcome.toolCalls).toHaveLength(8)
    expect(played.runs).toBe(0)
  })

  it('is a stopped turn when its answer was cut', async () => {
    const { outcome } = await play([{ parts: [{ text: 'half an ans' }], finish: 'length' }])
    expect(outcome).toMatchObject({
      status: 'stopped',
      text: 'half an ans',
      reason: { code: 'MODEL_STOPPED' },
    })
  })
})
