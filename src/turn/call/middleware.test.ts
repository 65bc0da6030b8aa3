import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { Executor } from '../executor/executor.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { CallSubject, Middleware } from './middleware.ts'

async function play(middleware: readonly Middleware[], model = script()) {
  let runs = 0
  const store = memoryStore()
  const runner = new TurnRunner({
    model,
    store,
    middleware,
    tools: [sampleTool('look', () => `seen ${++runs}`)],
  })
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go', conversation: 'k' })
  const logNow = async () => {
    const log: string[] = []
    for await (const { kind } of store.entries('k')) log.push(kind)
    return log
  }
  return { outcome, runs, recorder, log: await logNow(), logNow, runCount: () => runs }
}

const KNOWN = { settlement: 'failed', results: new Tokenizable('known to fail') } as const
const OWN_OUTCOME: TurnOutcome = {
  status: 'stopped',
  text: 'no',
  reason: { code: 'MIDDLEWARE', message: 'Not today.' },
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  conversation: 'k',
  turnId: 't',
  gates: [],
}
const turnOfEvents = () => new Promise((resolve) => setTimeout(resolve, 5))

const script = () => scriptedModel([[{ call: 'look', id: 'c' }], [{ text: 'done' }]])
const fail = async () => Promise.reject(new Error('layer'))

describe('middleware', () => {
  it('gives an outcome that has a reason or an output, whatever a layer makes of it', async () => {
    const { reason: _, ...without } = OWN_OUTCOME
    const stops = { turn: async () => without } as unknown as Middleware
    expect((await play([stops])).outcome).toMatchObject({
      status: 'stopped',
      reason: { code: 'MIDDLEWARE', message: expect.stringContaining('gave no reason') },
    })
    const done = { turn: async () => ({ ...OWN_OUTCOME, status: 'completed' }) }
    const { outcome } = await play([done as unknown as Middleware])
    expect(outcome.status).toBe('completed')
    expect(outcome).not.toHaveProperty('reason')
  })

  it('wraps turn, dispatch and call like an onion, and always comes out again', async () => {
    const log: string[] = []
    const layer = (name: string): Middleware => ({
      async turn(_, next) {
        log.push(`${name} turn`)
        const outcome = await next()
        log.push(`${name} turn out: ${outcome.status}`)
        return outcome
      },
      async dispatch(_, next) {
        log.push(`${name} dispatch`)
        await next()
        log.push(`${name} dispatch out`)
      },
      async call({ tool, args, checksum }, next) {
        log.push(`${name} ${tool} ${JSON.stringify(args)} ${checksum.length}`)
        const call = await next()
        log.push(`${name} ${call.settlement}`)
        return call
      },
    })
    const model = scriptedModel([[{ call: 'look', id: 'c' }], { error: new Error('model bug') }])
    const { outcome } = await play([layer('a'), layer('b')], model)
    expect(outcome.status).toBe('failed')
    expect(log).toEqual([
      'a turn',
      'b turn',
      'a dispatch',
      'b dispatch',
      'a look {} 64',
      'b look {} 64',
      'b ok',
      'a ok',
      'b dispatch out',
      'a dispatch out',
      'b turn out: failed',
      'a turn out: failed',
    ])
  })

  it('runs on every turn of a runner', async () => {
    let turns = 0
    const count: Middleware = {
      turn: (_, next) => {
        turns++
        return next()
      },
    }
    const model = scriptedModel([[{ text: 'a' }], [{ text: 'b' }]])
    const runner = new TurnRunner({ model, middleware: [count] })
    await runner.run({ message: '1' })
    await runner.run({ message: '2' })
    expect(turns).toBe(2)
  })

  it('that throws before a call refuses it; the turn goes on', async () => {
    const { outcome, runs, recorder } = await play([{ call: fail }])
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'refused' }] })
    expect(runs).toBe(0)
    expect(recorder.of('error')).toMatchObject([{ where: 'middleware' }])
  })

  it('that throws behind a call leaves it as it settled', async () => {
    const late: Middleware = {
      async call(_, next) {
        await next()
        return fail()
      },
    }
    const { outcome, runs } = await play([late])
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(runs).toBe(1)
  })

  it('that goes inside twice does not run a call twice', async () => {
    const twice: Middleware = {
      async call(_, next) {
        await next()
        return next()
      },
    }
    const { outcome, runs } = await play([twice])
    expect(runs).toBe(1)
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'ok' }])
  })

  it.each([
    ['a call', 'call', (subject: CallSubject) => subject.record(KNOWN)],
    ['the dispatch', 'dispatch', () => undefined],
    ['the turn', 'turn', () => OWN_OUTCOME],
  ] as const)('that goes inside %s when it has ended starts nothing', async (_, kind, give) => {
    const late = byHand()
    const errors: unknown[] = []
    const layer = {
      async [kind](subject: CallSubject, next: () => Promise<unknown>) {
        const goInside = async () => {
          await late.promise
          await next()
        }
        goInside().catch((error: unknown) => errors.push(error))
        return give(subject)
      },
    } as Middleware
    const played = await play([layer])
    late.resolve()
    await turnOfEvents()
    expect(errors).toHaveLength(1)
    expect(played.runCount()).toBe(0)
    expect(await played.logNow()).toEqual(played.log)
    expect(played.log.at(-1)).toBe('turn-end')
  })

  it.each(['dispatch', 'turn'] as const)(
    'that does not wait for the %s inside it holds the conversation until that has ended',
    async (kind) => {
      const hasty = {
        async [kind](_: unknown, next: () => Promise<unknown>) {
          void next()
          return OWN_OUTCOME
        },
      } as Middleware
      const { outcome, runs, log, logNow } = await play([hasty])
      expect(runs).toBe(1)
      expect(log.filter((entry) => entry === 'turn-end')).toHaveLength(1)
      expect(log.at(-1)).toBe('turn-end')
      expect(outcome.status).toBe(kind === 'turn' ? 'stopped' : 'completed')
      await turnOfEvents()
      expect(await logNow()).toEqual(log)
    },
  )

  it('that does not wait hears nothing of what fails inside it', async () => {
    const hasty: Middleware = {
      async call(subject, next) {
        void next()
        return subject.record(KNOWN)
      },
    }
    const unheard: unknown[] = []
    const hear = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', hear)
    const { outcome } = await play([hasty, { call: fail }])
    await turnOfEvents()
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'failed' }])
  })

  it('around the turn that gives nothing back fails it and keeps what it came to', async () => {
    const silent = {
      async turn(_: unknown, next: () => Promise<unknown>) {
        await next()
      },
    } as unknown as Middleware
    const { outcome } = await play([silent])
    expect(outcome).toMatchObject({
      status: 'failed',
      text: 'done',
      toolCalls: [{ id: 'c' }],
      reason: { code: 'MIDDLEWARE' },
    })
  })

  it('does not use up the time that a call has', async () => {
    const slow: Middleware = {
      async call(_, next) {
        await new Promise((resolve) => setTimeout(resolve, 260))
        return next()
      },
    }
    const rest = () => new Promise<string>((resolve) => setTimeout(resolve, 1, 'rested'))
    const tools = [sampleTool('look', rest, { timeoutMs: 250 })]
    const runner = new TurnRunner({ model: script(), tools, middleware: [slow] })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'ok' }])
  })

  it('can answer a call itself, and cannot pass another call off as this one', async () => {
    const known: Middleware = {
      call: async (subject) => subject.record(KNOWN),
    }
    const own = await play([known])
    expect(own.runs).toBe(0)
    expect(own.outcome.toolCalls).toMatchObject([{ id: 'c', settlement: 'failed' }])
    const forged = await play([{ call: async () => ({ id: 'c' }) as never }])
    expect(forged.outcome.toolCalls).toMatchObject([{ id: 'c', settlement: 'refused' }])
  })

  it('can put a refusal in the place of what a stranger said, no more trusted than that', async () => {
    const refuse: Middleware = {
      async call(subject, next) {
        await next()
        return subject.record({ settlement: 'refused', results: new Tokenizable('not for you') })
      },
    }
    const { outcome, recorder } = await play([refuse])
    expect(outcome.toolCalls).toMatchObject([
      { settlement: 'refused', results: { text: 'not for you' }, trust: 'third-party' },
    ])
    expect(recorder.of('error')).toEqual([])
  })

  it.each([
    ['under another id', { id: 'other' }],
    ['with other arguments', { args: { q: 'other' } }],
    ['of another tool', { tool: 'other' }],
  ])('cannot pass off a sound record %s as this call', async (_, change) => {
    const swap: Middleware = {
      async call(_subject, next) {
        const { digest: _digest, checksum: _checksum, ...fields } = await next()
        return new ToolCall({ ...fields, ...change })
      },
    }
    const { outcome, recorder, runs } = await play([swap])
    expect(outcome.toolCalls).toMatchObject([{ id: 'c', tool: 'look', args: {} }])
    expect(recorder.of('error')).toMatchObject([{ where: 'middleware' }])
    expect(runs).toBe(1)
  })

  it.each([
    ['throws before the dispatch', { dispatch: fail }, 'failed'],
    ['does not go inside', { dispatch: async () => {} }, 'stopped'],
    ['throws before the turn', { turn: fail }, 'failed'],
  ] as [string, Middleware, string][])(
    'that %s ends the turn with a reason and a closed log',
    async (_, layer, status) => {
      const { outcome, log } = await play([layer])
      expect(outcome).toMatchObject({ status, reason: { code: 'MIDDLEWARE' } })
      expect(log.at(-1)).toBe('turn-end')
    },
  )

  it('that throws behind the turn fails it and keeps what it came to', async () => {
    const late: Middleware = {
      async turn(_, next) {
        await next()
        return fail()
      },
    }
    const { outcome, log } = await play([late])
    expect(outcome).toMatchObject({ status: 'failed', text: 'done', toolCalls: [{ id: 'c' }] })
    expect(log.filter((kind) => kind === 'turn-end')).toHaveLength(1)
  })
})

describe('an abort', () => {
  const hang = () => new Promise<never>(() => {})

  it.each([
    ['turn', { turn: hang }, []],
    ['dispatch', { dispatch: hang }, []],
    ['call', { call: hang }, ['aborted']],
  ] as [string, Middleware, string[]][])(
    'leaves a %s layer behind that never goes inside',
    async (_, layer, settlements) => {
      const store = memoryStore()
      const tools = [sampleTool('look', () => 'x')]
      const runner = new TurnRunner({ model: script(), tools, store, middleware: [layer] })
      const signal = AbortSignal.timeout(20)
      const outcome = await runner.run({ message: 'go', conversation: 'k', signal })
      expect(outcome.status).toBe('aborted')
      expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(settlements)
      expect(await store.count({ conversation: 'k', kind: 'turn-end' })).toBe(1)
    },
  )

  it('waits for a layer that takes something out of a result', async () => {
    const abort = new AbortController()
    const redact: Middleware = {
      async call(subject, next) {
        const { settlement } = await next()
        abort.abort()
        await new Promise((resolve) => setTimeout(resolve, 10))
        return subject.record({ settlement, results: (await subject.spool('***')) as never })
      },
    }
    const runner = new TurnRunner({
      model: script(),
      tools: [sampleTool('look', () => 'the secret')],
      middleware: [redact],
    })
    const { toolCalls } = await runner.run({ message: 'go', signal: abort.signal })
    expect(await (toolCalls[0]?.results as SpooledArtifact | undefined)?.asString()).toBe('***')
  })
})

describe('structured output', () => {
  const schema = z.object({ disk: z.coerce.number() })
  const ask = (text: string) => {
    const model = scriptedModel([[{ text }]])
    const runner = new TurnRunner({ model })
    return { model, outcome: runner.run({ message: 'which disk?', output: schema }) }
  }

  it('is asked for, read and checked', async () => {
    const { model, outcome } = ask('{"disk":"7"}')
    const { status, output } = await outcome
    expect(status).toBe('completed')
    expect(output?.disk satisfies number | undefined).toBe(7)
    expect(model.requests[0]?.output).toMatchObject({ name: 'answer', schema: { type: 'object' } })
  })

  it.each([
    ['an abort', () => AbortSignal.timeout(20), {}, { status: 'aborted' }],
    [
      'the time limit',
      () => new AbortController().signal,
      { limits: { timeMs: 20 } },
      { status: 'stopped', reason: { code: 'MAX_TIME' } },
    ],
  ])('ends by %s while a check of it hangs', async (_, signal, options, end) => {
    const hangs = z.object({ disk: z.number().refine(() => byHand<boolean>().promise) })
    const store = memoryStore()
    const model = scriptedModel([[{ text: '{"disk":7}' }]])
    const runner = new TurnRunner({ model, store, ...options })
    const outcome = await runner.run({ message: 'go', output: hangs, signal: signal() })
    expect(outcome).toMatchObject({ ...end, text: '{"disk":7}' })
    const { conversation } = outcome
    const [last] = (await store.find({ conversation, kind: 'turn-end' })).entries
    expect(last?.entry.data).toMatchObject({ status: end.status })
  })

  it('is made out once, so that an answer is held to what the model was told', async () => {
    const properties: Record<string, object> = { disk: { type: 'integer' } }
    let readings = 0
    const plain = {
      type: 'object' as const,
      get properties() {
        readings++
        return { ...properties }
      },
      required: ['disk'],
    }
    const executor: Executor = async ({ output }) => {
      expect(output?.schema['properties']).toEqual({ disk: { type: 'integer' } })
      properties['disk'] = { type: 'string' }
      return { answer: '{"disk":7}' }
    }
    const run = new TurnRunner({ executor }).run({ message: 'go', output: plain })
    const atFirst = readings
    const { status, output } = await run
    expect({ status, output }).toEqual({ status: 'completed', output: { disk: 7 } })
    expect(readings).toBe(atFirst)
  })

  it('is given again, and checked, where a turn goes on', async () => {
    const model = scriptedModel([[{ call: 'look' }], [{ text: '{"disk":"7"}' }]])
    const tools = [sampleTool('look', () => 'seen', { approval: true })]
    const runner = new TurnRunner({ model, tools })
    const { conversation, gates } = await runner.run({ message: 'go', output: schema })
    const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    const { output } = await runner.resume({ conversation, decisions, output: schema })
    expect(output?.disk satisfies number | undefined).toBe(7)
    expect(model.requests[1]?.output).toEqual(model.requests[0]?.output)
    const again = await runner.recover({ conversation, output: schema })
    expect(again.output?.disk satisfies number | undefined).toBe(7)
  })

  it('is not looked for in a turn that did not complete', async () => {
    const model = scriptedModel([[{ call: 'look' }]])
    const tools = [sampleTool('look', () => 'seen')]
    const runner = new TurnRunner({ model, tools, limits: { iterations: 1 } })
    const outcome = await runner.run({ message: 'go', output: schema })
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'MAX_ITERATIONS' } })
  })

  it('fails the turn when a check of it throws what cannot be shown', async () => {
    const odd = z.object({}).refine(() => {
      throw Object.create(null)
    })
    const runner = new TurnRunner({ model: scriptedModel([[{ text: '{}' }]]) })
    const { status, reason } = await runner.run({ message: 'go', output: odd })
    expect({ status, code: reason?.code }).toEqual({ status: 'failed', code: 'OUTPUT_REJECTED' })
  })

  it.each(['it was disk 7', '{"disk":"many"}', '[7]', '{"disk":7,"disk":8}'])(
    'fails the turn when the answer is %s, and keeps the text',
    async (text) => {
      const { status, output, reason, text: kept } = await ask(text).outcome
      expect({ status, output, code: reason?.code, kept }).toEqual({
        status: 'failed',
        output: undefined,
        code: 'OUTPUT_REJECTED',
        kept: text,
      })
    },
  )

  it('names the answer, not arguments, when it is no strict JSON', async () => {
    const { reason } = await ask('{"disk":7,"disk":8}').outcome
    expect(reason?.message).toMatch(/`output` schema: `output.disk` occurs twice/)
    expect((await ask('disk 7').outcome).reason?.message).toMatch(/: `output` is not JSON/)
  })

  it.each<[string, unknown, RegExp]>([
    ['describes no object', z.string(), /^`output` must describe an object/],
    ['JSON cannot say', z.object({ at: z.date() }), /^`output` must be or give JSON Schema: Date/],
    ['is no JSON', { type: 'object', default: Number.NaN }, /`output.default` is not a finite/],
  ])('is refused before anything is touched when its schema %s', async (_, output, message) => {
    const store = memoryStore()
    const runner = new TurnRunner({ model: scriptedModel([]), store })
    const run = runner.run({ message: 'go', conversation: 'k', output: output as typeof schema })
    await expect(run).rejects.toMatchObject({
      code: 'E_INVALID_TURN_INPUT',
      message: expect.stringMatching(message),
      data: { path: 'output' },
    })
    expect(await store.conversation('k')).toBeUndefined()
  })
})
