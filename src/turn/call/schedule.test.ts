import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Effect } from '../../tools/tool-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { runJobs } from './schedule.ts'

const turns = (count: number) =>
  Array.from({ length: count }).reduce<Promise<void>>(
    (wait) => wait.then(() => {}),
    Promise.resolve(),
  )

describe('scheduling', () => {
  it('runs calls in parallel, never more than the cap', async () => {
    let running = 0
    let most = 0
    const work = sampleTool('work', async () => {
      most = Math.max(most, ++running)
      await turns(50)
      running--
      return 'x'
    })
    const calls = Array.from({ length: 12 }, (_, n) => ({ call: 'work', args: { q: String(n) } }))
    const model = scriptedModel([calls, [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [work], concurrency: 3 })
    expect((await runner.run({ message: 'go' })).toolCalls).toHaveLength(12)
    expect(most).toBe(3)
  })

  it('runs an exclusive call while nothing else does, in its place', async () => {
    const log: string[] = []
    const noted = async ({ q }: { q?: string | undefined }) => {
      log.push(`+${q}`)
      await turns(50)
      log.push(`-${q}`)
      return 'x'
    }
    const tools = [sampleTool('work', noted), sampleTool('alone', noted, { exclusive: true })]
    const call = (tool: string, q: string) => ({ call: tool, args: { q } })
    const model = scriptedModel([
      [
        call('work', 'a'),
        call('work', 'b'),
        call('alone', 'X'),
        call('work', 'c'),
        call('work', 'd'),
      ],
      [{ text: 'ok' }],
    ])
    await new TurnRunner({ model, tools }).run({ message: 'go' })
    expect(log.slice(0, 2)).toEqual(['+a', '+b'])
    expect(log.slice(4, 6)).toEqual(['+X', '-X'])
    expect(log.slice(6, 8)).toEqual(['+c', '+d'])
  })

  it.each([
    ['read', 'timed-out'],
    ['idempotent', 'timed-out'],
    ['write', 'in-doubt'],
    [undefined, 'in-doubt'],
  ] as const)('settles a %s tool that runs out of time as %s', async (effect, settlement) => {
    const hangs = sampleTool('hangs', () => new Promise(() => {}), {
      timeoutMs: 10,
      effect: effect as Effect,
    })
    const model = scriptedModel([[{ call: 'hangs' }], [{ text: 'ok' }]])
    const { toolCalls, status } = await new TurnRunner({ model, tools: [hangs] }).run({
      message: 'go',
    })
    expect(status).toBe('completed')
    expect(toolCalls).toMatchObject([{ settlement, isError: true }])
  })

  it('counts the time in which a handler blocks the event loop', async () => {
    const blocks = sampleTool(
      'blocks',
      async () => {
        const end = performance.now() + 300
        while (performance.now() < end);
        await new Promise((resolve) => setTimeout(resolve, 30))
        return 'too late'
      },
      { timeoutMs: 200, effect: 'read' },
    )
    const model = scriptedModel([[{ call: 'blocks' }], [{ text: 'ok' }]])
    const { toolCalls } = await new TurnRunner({ model, tools: [blocks] }).run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'timed-out' }])
  })

  it('discards and reports the late result of a handler that ignores its signal', async () => {
    const late = byHand<string>()
    const deaf = sampleTool('deaf', () => late.promise, { timeoutMs: 10 })
    const model = scriptedModel([[{ call: 'deaf', id: 'c1' }], [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [deaf] })
    const recorder = eventRecorder(runner)
    const { toolCalls } = await runner.run({ message: 'go' })
    late.resolve('too late')
    await turns(20)
    expect(toolCalls).toMatchObject([{ settlement: 'timed-out' }])
    expect(recorder.of('warning')).toMatchObject([{ code: 'LATE_RESULT', toolCallId: 'c1' }])
    const ends = recorder.of('toolExecutionEnd')
    expect(ends).toHaveLength(1)
    expect(recorder.of('toolCall').filter(({ isComplete }) => isComplete)).toHaveLength(1)
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a frozen object', Object.freeze({})],
    [
      'what throws when it is looked at',
      new Proxy(
        {},
        {
          get() {
            throw new Error('looked at')
          },
        },
      ),
    ],
  ])('reports a handler that throws %s too late, and lives on', async (_, thrown) => {
    const late = byHand<string>()
    const deaf = sampleTool('deaf', () => late.promise, { timeoutMs: 10 })
    const model = scriptedModel([[{ call: 'deaf' }], [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [deaf] })
    const recorder = eventRecorder(runner)
    const unheard: unknown[] = []
    const hear = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', hear)
    await runner.run({ message: 'go' })
    late.reject(thrown)
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
    expect(recorder.of('warning')).toMatchObject([{ code: 'LATE_RESULT' }])
  })

  it('reports nothing of a handler that stops when it is told to', async () => {
    const obeys = sampleTool(
      'obeys',
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
      { timeoutMs: 10 },
    )
    const model = scriptedModel([[{ call: 'obeys' }], [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [obeys] })
    const recorder = eventRecorder(runner)
    await runner.run({ message: 'go' })
    await turns(20)
    expect(recorder.of('warning')).toEqual([])
  })

  it('gives up a stream that never ends at the timeout', async () => {
    const drip = sampleTool(
      'drip',
      async function* drips() {
        for (let n = 0; n < 1_000_000; n++) {
          yield `line ${n}\n`
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      } as never,
      { timeoutMs: 30 },
    )
    const model = scriptedModel([[{ call: 'drip' }], [{ text: 'ok' }]])
    const { toolCalls } = await new TurnRunner({ model, tools: [drip] }).run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'timed-out' }])
  })
})

describe('runJobs', () => {
  const job = (run: () => Promise<void>) => ({ exclusive: false, run })

  it('throws what escapes a job when all the others have ended, and starts those behind it', async () => {
    const slow = byHand()
    const ended: string[] = []
    const running = runJobs(
      [
        job(() => Promise.reject(new Error('first'))),
        job(() => slow.promise.then(() => void ended.push('slow'))),
        job(async () => {
          throw new Error('second')
        }),
        job(async () => void ended.push('last')),
      ],
      2,
    )
    let isOver = false
    const fault = running.catch((error: Error) => {
      isOver = true
      return error.message
    })
    await turns(20)
    expect({ isOver, ended }).toEqual({ isOver: false, ended: ['last'] })
    slow.resolve()
    expect(await fault).toBe('first')
    expect(ended).toEqual(['last', 'slow'])
  })
})
