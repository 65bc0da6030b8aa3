import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { abortFaults } from '../../../test/turn-abort-proof.ts'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { BobbinError } from '../../core/error/error.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../turn-runner.ts'

const hang = () => new Promise<never>(() => {})

describe('an abort', () => {
  // test/deep goes through every point; here a number that shares no factor with the steps has to do.
  it('wherever it comes starts nothing afterwards, settles what started and leaves a sound log', async () => {
    const statuses: string[] = []
    for (const hasLayers of [true, false]) {
      for (let at = 0; at < 4_000; at += 17) {
        const { faults, status, wasOver } = await abortFaults(at, at % 5 === 0, hasLayers)
        expect(faults).toEqual([])
        statuses.push(status)
        if (wasOver) break
      }
      expect(statuses.at(-1)).toBe('completed')
    }
    expect(statuses.filter((status) => status === 'aborted').length).toBeGreaterThan(50)
  }, 60_000)

  it('before the turn begins runs nothing and asks nobody', async () => {
    const model = scriptedModel([])
    const outcome = await new TurnRunner({ model }).run({
      message: 'go',
      signal: AbortSignal.abort(),
    })
    expect(outcome).toMatchObject({ status: 'aborted', text: '', toolCalls: [] })
    model.done()
  })

  it('reaches a model, an executor that ignores it, an approval and a policy that hang', async () => {
    const call = [{ call: 'tool' }]
    const tool = sampleTool('tool', () => 'x')
    const gated = sampleTool('tool', () => 'x', { approval: true })
    const policy = sampleTool('tool', () => 'x', { approval: hang })
    const runners = [
      new TurnRunner({ model: scriptedModel([{ until: byHand().promise }]), tools: [tool] }),
      new TurnRunner({ executor: hang }),
      new TurnRunner({ model: scriptedModel([call]), tools: [gated], approve: hang }),
      new TurnRunner({ model: scriptedModel([call]), tools: [policy] }),
    ]
    const outcomes = await Promise.all(
      runners.map((runner) => runner.run({ message: 'go', signal: AbortSignal.timeout(30) })),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('aborted'))
    expect(outcomes.map(({ toolCalls }) => toolCalls.map(({ settlement }) => settlement))).toEqual([
      [],
      [],
      ['aborted'],
      ['aborted'],
    ])
  })

  it.each([
    ['an observer of its failure', undefined],
    ['somebody while a pause of the application’s goes on for ever', hang],
  ])('by %s ends the wait for a model', async (_, sleep) => {
    const abort = new AbortController()
    // A minute is longer than a test may take.
    const data = { api: 'test', isRetryable: true, retryAfterMs: 60_000 }
    const error = new BobbinError('E_PROVIDER_RATE_LIMITED', 'Too fast.', data)
    const model = scriptedModel([{ error }, [{ text: 'never' }]])
    const runner = new TurnRunner({ model, ...(sleep && { testing: { sleep } }) })
    runner.observe('warning', () => {
      if (sleep === undefined) abort.abort()
      else setTimeout(() => abort.abort(), 5)
    })
    const outcome = await runner.run({ message: 'go', signal: abort.signal })
    expect(outcome.status).toBe('aborted')
    expect(model.requests).toHaveLength(1)
  })

  it('by an observer of the start keeps the handler from starting', async () => {
    const abort = new AbortController()
    let runs = 0
    const runner = new TurnRunner({
      model: scriptedModel([[{ call: 'tool' }]]),
      tools: [sampleTool('tool', () => `${++runs}`)],
    })
    runner.observe('toolExecutionStart', () => abort.abort())
    const outcome = await runner.run({ message: 'go', signal: abort.signal })
    expect(outcome).toMatchObject({ status: 'aborted', toolCalls: [{ settlement: 'aborted' }] })
    expect(runs).toBe(0)
  })

  it('by the executor itself, in the very step in which it answers, records no answer', async () => {
    const abort = new AbortController()
    const store = memoryStore()
    const executor = () => {
      abort.abort()
      return { answer: 'too late' } as never
    }
    const runner = new TurnRunner({ executor, store })
    const outcome = await runner.run({ message: 'go', conversation: 'k', signal: abort.signal })
    expect(outcome).toMatchObject({ status: 'aborted', text: '' })
    expect(await store.count({ conversation: 'k', kind: 'message' })).toBe(1)
  })

  it('outweighs a limit that was reached in the same response', async () => {
    const abort = new AbortController()
    const look = sampleTool('look', async () => abort.abort() as undefined)
    const model = scriptedModel([[{ call: 'look' }, { call: 'look' }]])
    const runner = new TurnRunner({ model, tools: [look], limits: { calls: 1 } })
    const outcome = await runner.run({ message: 'go', signal: abort.signal })
    expect(outcome).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(['aborted', 'refused'])
  })

  it('by a schema opens no gate that nobody would ever come to', async () => {
    const abort = new AbortController()
    const store = memoryStore()
    const schema = z.object({}).refine(() => {
      abort.abort()
      return true
    })
    const pay = new Tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: schema,
      approval: true,
      handler: () => 'paid',
    })
    const plain = sampleTool('plain', () => 'x', { approval: true })
    const model = scriptedModel([[{ call: 'pay' }, { call: 'plain' }]])
    const runner = new TurnRunner({ model, tools: [pay, plain], store })
    const outcome = await runner.run({ message: 'go', conversation: 'k', signal: abort.signal })
    expect(outcome.status).toBe('aborted')
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(['aborted', 'aborted'])
    expect(await store.count({ conversation: 'k', kind: 'gate-opened' })).toBe(0)
  })

  it('of a tool that must not repeat leaves its call in doubt', async () => {
    const abort = new AbortController()
    const pay = sampleTool(
      'pay',
      () => {
        abort.abort()
        return new Promise(() => {})
      },
      { effect: 'write' },
    )
    const runner = new TurnRunner({ model: scriptedModel([[{ call: 'pay' }]]), tools: [pay] })
    const outcome = await runner.run({ message: 'go', signal: abort.signal })
    expect(outcome).toMatchObject({ status: 'aborted', toolCalls: [{ settlement: 'in-doubt' }] })
  })
})
