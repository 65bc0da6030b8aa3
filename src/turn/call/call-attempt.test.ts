import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { ToolContext, ToolOutput } from '../../tools/tool-context.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import { TurnRunner } from '../turn-runner.ts'

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

/** Gives a call up after 10 ms, then lets its handler go on, and says what was written to the spool since. */
async function givenUp(handler: (late: Promise<void>, ctx: ToolContext) => Promise<ToolOutput>) {
  const late = byHand()
  const spool = memorySpool()
  let writes = 0
  const counted = {
    ...spool,
    write: (...given: Parameters<typeof spool.write>) => {
      writes++
      return spool.write(...given)
    },
  }
  const tool = sampleTool('slow', (_, ctx) => handler(late.promise, ctx), { timeoutMs: 10 })
  const model = scriptedModel([[{ call: 'slow' }], [{ text: 'ok' }]])
  const runner = new TurnRunner({ model, tools: [tool], spool: counted })
  const recorder = eventRecorder(runner)
  const { toolCalls } = await runner.run({ message: 'go' })
  expect(toolCalls).toMatchObject([{ settlement: 'timed-out' }])
  late.resolve()
  await pause()
  const reports = recorder.of('toolProgress').map(({ update }) => update)
  return { writes, reports, warnings: recorder.of('warning').map(({ code }) => code) }
}

describe('an attempt at a call', () => {
  it('that was given up winds nothing onto the spool any more', async () => {
    const large = 'x'.repeat(200_000)
    const { writes, warnings } = await givenUp(async (late) => {
      await late
      return large
    })
    expect({ writes, warnings }).toEqual({ writes: 0, warnings: ['LATE_RESULT'] })
  })

  it('that was given up reports no progress any more', async () => {
    const { reports } = await givenUp(async (late, { progress }) => {
      progress('begun')
      await late
      progress('still at it')
      return 'done'
    })
    expect(reports).toEqual(['begun'])
  })

  it('that was given up cancels a stream that comes too late', async () => {
    let isCancelled = false
    const { warnings } = await givenUp(async (late) => {
      await late
      return new ReadableStream({
        cancel() {
          isCancelled = true
        },
      })
    })
    expect({ isCancelled, warnings }).toEqual({ isCancelled: true, warnings: ['LATE_RESULT'] })
  })

  it('that was given up has an aborted signal, whenever its handler first looks', async () => {
    let reason: unknown
    await givenUp(async (late, ctx) => {
      await late
      reason = ctx.signal.reason
      return 'x'
    })
    expect(reason).toMatchObject({ name: 'TimeoutError' })
  })

  it.each([
    ['read', 'aborted'],
    ['write', 'in-doubt'],
  ] as const)('whose handler aborts the turn and throws is cut off: %s', async (effect, end) => {
    for (const isAsync of [false, true]) {
      const abort = new AbortController()
      const fail = () => {
        abort.abort()
        throw new Error('gone wrong')
      }
      const handler = isAsync ? async () => fail() : fail
      const tool = sampleTool('odd', handler, { effect })
      const runner = new TurnRunner({ model: scriptedModel([[{ call: 'odd' }]]), tools: [tool] })
      const { toolCalls, status } = await runner.run({ message: 'go', signal: abort.signal })
      expect({ status, settled: toolCalls.map(({ settlement }) => settlement) }).toEqual({
        status: 'aborted',
        settled: [end],
      })
    }
  })

  it('that an abort keeps from starting is sure not to have run, whatever the tool does', async () => {
    const abort = new AbortController()
    const options: Partial<ToolOptions> = { effect: 'write', trust: 'first-party' }
    let runs = 0
    const stop = () => {
      abort.abort()
      return ''
    }
    const first = sampleTool('first', stop, options as object)
    const second = sampleTool('second', () => `${++runs}`, options as object)
    const model = scriptedModel([
      [
        { call: 'first', id: 'a' },
        { call: 'second', id: 'b' },
      ],
    ])
    const runner = new TurnRunner({ model, tools: [first, second], concurrency: 1 })
    const recorder = eventRecorder(runner)
    const { toolCalls } = await runner.run({ message: 'go', signal: abort.signal })
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['in-doubt', 'aborted'])
    expect(runs).toBe(0)
    const started = recorder.of('toolExecutionStart').map(({ toolCallId }) => toolCallId)
    expect(started).toEqual(['a'])
  })
})
