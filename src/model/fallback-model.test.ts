import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error/error.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import type { ModelEvent } from './events/model-event.ts'
import { fallbackModel } from './fallback-model.ts'
import type { Model } from './model.ts'

const broken = () => new BobbinError('E_STREAM_BROKEN', 'The stream broke off.', { reason: 'cut' })

/** A model that streams some events and then throws. */
const failing = (error: unknown, ...events: readonly ModelEvent[]): Model => ({
  api: 'scripted',
  provider: 'bobbin',
  model: 'first',
  async *stream() {
    yield* events
    throw error
  },
})

const runnerOf = (model: Model) => {
  const ran: string[] = []
  const tool = (name: string) => sampleTool(name, () => (ran.push(name), 'done'))
  const runner = new TurnRunner({ model, tools: [tool('pay'), tool('look')], retries: 0 })
  return { runner, ran, events: eventRecorder(runner) }
}

describe('fallbackModel', () => {
  it('asks the next model when one fails, and says so', async () => {
    const second = scriptedModel([[{ text: 'from the second' }]])
    const { runner, events } = runnerOf(fallbackModel([failing(broken()), second]))
    expect(await runner.run({ message: 'go' })).toMatchObject({
      status: 'completed',
      text: 'from the second',
    })
    expect(events.of('warning')).toMatchObject([
      { code: 'MODEL_FALLBACK', message: expect.stringContaining('`first` failed') },
    ])
  })

  it('gives the texts of two models different ids, and runs no call of the failed one', async () => {
    const first = failing(
      broken(),
      { type: 'text', key: 't', delta: 'half an ' },
      { type: 'toolInput', key: 'c', tool: 'pay', delta: '{}' },
    )
    const second = scriptedModel([
      [{ text: 'a whole answer' }, { call: 'look' }],
      [{ text: 'end' }],
    ])
    const { runner, ran, events } = runnerOf(fallbackModel([first, second], { on: () => true }))
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(ran).toEqual(['look'])
    expect(toolCalls.map(({ tool }) => tool)).toEqual(['look'])
    const texts = new Map<string, string>()
    for (const { id, delta } of events.of('message')) texts.set(id, (texts.get(id) ?? '') + delta)
    expect([...texts.values()]).toEqual(['half an ', 'a whole answer', 'half an ', 'end'])
  })

  it('begins every request with the first model', async () => {
    let asked = 0
    const once: Model = {
      ...failing(broken()),
      stream: (...call) => (++asked === 1 ? failing(broken()) : healthy).stream(...call),
    }
    const healthy = scriptedModel([[{ text: 'the first is back' }]])
    const second = scriptedModel([[{ call: 'look' }]])
    const { runner } = runnerOf(fallbackModel([once, second]))
    expect(await runner.run({ message: 'go' })).toMatchObject({ text: 'the first is back' })
  })

  it('fails with the error of the last model', async () => {
    const last = new BobbinError('E_STREAM_BROKEN', 'The last one broke.', { reason: 'cut' })
    const { runner } = runnerOf(fallbackModel([failing(broken()), failing(last)]))
    const { status, reason } = (await runner.run({ message: 'go' })) as {
      status: string
      reason?: { message: string }
    }
    expect(status).toBe('failed')
    expect(reason?.message).toContain('The last one broke.')
  })

  it('asks no other model when the error is not a reason, or the caller aborted', async () => {
    const second = scriptedModel([])
    const refused = runnerOf(fallbackModel([failing(new Error('bad request')), second]))
    expect(await refused.runner.run({ message: 'go' })).toMatchObject({ status: 'failed' })
    const controller = new AbortController()
    const aborting: Model = {
      ...failing(broken()),
      stream: (...call) => {
        controller.abort()
        return failing(broken()).stream(...call)
      },
    }
    const aborted = runnerOf(fallbackModel([aborting, second], { on: () => true }))
    const { signal } = controller
    expect(await aborted.runner.run({ message: 'go', signal })).toMatchObject({ status: 'aborted' })
    expect(second.requests).toEqual([])
  })
})
