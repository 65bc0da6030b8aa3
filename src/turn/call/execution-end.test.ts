import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'

/** Runs one call of the tool, and waits for whatever comes after the turn. */
async function play(tool: Tool, options: Partial<TurnRunnerOptions> = {}, signal?: AbortSignal) {
  const model = scriptedModel([[{ call: tool.name, id: 'c1' }], [{ text: 'ok' }]])
  const runner = new TurnRunner({ ...options, model, tools: [tool] } as TurnRunnerOptions)
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go', ...(signal && { signal }) })
  const told = recorder.events.length
  await new Promise((resolve) => setTimeout(resolve, 30))
  const names = recorder.events.map(({ name }) => name)
  return { outcome, recorder, names, late: names.slice(told) }
}

const later = (end: () => string) => new Promise((done) => setTimeout(done, 20)).then(end)
const pairOf = (names: readonly string[]) =>
  names.filter((name) => name.startsWith('toolExecution'))

describe('toolExecutionEnd', () => {
  const deaf = (work: () => Promise<string>) => sampleTool('deaf', work, { timeoutMs: 10 })

  it.each([
    ['never ends', () => byHand<string>().promise],
    ['ends too late', () => later(() => 'x')],
    [
      'fails too late',
      () =>
        later(() => {
          throw new Error('x')
        }),
    ],
  ])('comes once, at the time-out, when the handler %s', async (_, work) => {
    const { names, recorder, late } = await play(deaf(work))
    expect(pairOf(names)).toEqual(['toolExecutionStart', 'toolExecutionEnd'])
    expect(recorder.of('toolExecutionEnd')).toMatchObject([{ toolCallId: 'c1', isError: true }])
    expect(late).not.toContain('toolExecutionEnd')
    expect(names.indexOf('toolExecutionEnd')).toBeLessThan(names.indexOf('turnEnd'))
  })

  it('comes once when the turn is aborted', async () => {
    const tool = sampleTool('deaf', () => byHand<string>().promise)
    const { names, outcome } = await play(tool, {}, AbortSignal.timeout(10))
    expect(outcome.status).toBe('aborted')
    expect(pairOf(names)).toEqual(['toolExecutionStart', 'toolExecutionEnd'])
    expect(names.indexOf('toolExecutionEnd')).toBeLessThan(names.indexOf('turnEnd'))
  })

  it('says that the execution failed when its output cannot be stored', async () => {
    const { recorder, outcome } = await play(
      sampleTool('dated', () => ({ at: new Date() }) as never),
    )
    expect(outcome.toolCalls).toMatchObject([{ settlement: 'failed' }])
    expect(recorder.of('toolExecutionEnd')).toMatchObject([
      { isError: true, code: 'E_INVALID_OUTPUT' },
    ])
  })
})

describe('the exception of a handler', () => {
  const fault = new TypeError('no such table', { cause: new Error('SQLITE_ERROR') })
  const broken = () => sampleTool('broken', () => Promise.reject(fault))

  it('reaches observers as it was thrown, with the id of its call', async () => {
    const { recorder, outcome } = await play(broken())
    const [told] = recorder.of('error')
    expect(told).toEqual({ error: fault, where: 'handler', toolCallId: 'c1' })
    expect(told?.error).toBe(fault)
    const { results } = outcome.toolCalls[0] ?? {}
    expect(results).toMatchObject({ text: 'The tool `broken` failed: no such table' })
  })

  it('reaches observers when what the handler returned cannot be stored', async () => {
    const { recorder } = await play(sampleTool('dated', () => ({ at: new Date() }) as never))
    expect(recorder.of('error')).toMatchObject([
      { error: { code: 'E_INVALID_OUTPUT' }, where: 'output', toolCallId: 'c1' },
    ])
  })

  it('does not tell observers a secret', async () => {
    const leak = sampleTool('leak', async (_, ctx) => {
      throw new Error('401', { cause: new Error(`for ${await ctx.secret('key')}`) })
    })
    const { recorder } = await play(leak, { secrets: () => 'quagga42' })
    const { error } = recorder.of('error')[0] ?? {}
    expect(error).toBeInstanceOf(Error)
    const { message, stack, cause } = error as Error
    expect([message, stack, String(cause)].join()).not.toContain('quagga42')
    expect(message).toBe('401')
    expect(stack).toContain('execution-end.test.ts')
  })
})
