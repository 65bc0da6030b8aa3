import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { subAgent } from '../nested/sub-agent.ts'
import { TurnRunner } from '../turn-runner.ts'

const schema = z.object({ city: z.string(), degrees: z.number() })
const WRONG = '{"city":"Rome"}'
const RIGHT = '{"city":"Rome","degrees":21}'

const answers = (...texts: string[]) => scriptedModel(texts.map((text) => [{ text }]))
const textsOf = (model: ReturnType<typeof scriptedModel>) =>
  model.requests.map(({ items }) =>
    items.map((item) =>
      item.type === 'message' && item.parts[0]?.type === 'text' ? item.parts[0].text : item.type,
    ),
  )

describe('output with attempts', () => {
  it('asks the model again, and says what does not fit', async () => {
    const model = answers(WRONG, RIGHT)
    const runner = new TurnRunner({ model })
    const events = eventRecorder(runner)
    const outcome = await runner.run({ message: 'Weather?', output: { schema, attempts: 2 } })
    expect(outcome).toMatchObject({ status: 'completed', output: { city: 'Rome', degrees: 21 } })
    const [, second] = textsOf(model)
    expect(second).toEqual([
      'Weather?',
      WRONG,
      expect.stringMatching(/`degrees`: .*\nAnswer again, with JSON that fits the schema/s),
    ])
    expect(events.of('warning')).toMatchObject([{ code: 'OUTPUT_CORRECTION' }])
  })

  it('fails when the last answer does not fit, and counts each round', async () => {
    const model = answers(WRONG, 'no JSON at all', WRONG, RIGHT)
    const runner = new TurnRunner({ model })
    const outcome = await runner.run({ message: 'Weather?', output: { schema, attempts: 3 } })
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'OUTPUT_REJECTED' } })
    expect(model.requests).toHaveLength(3)
    const limited = new TurnRunner({ model: answers(WRONG, RIGHT), limits: { iterations: 1 } })
    expect(
      await limited.run({ message: 'Weather?', output: { schema, attempts: 3 } }),
    ).toMatchObject({ status: 'stopped', reason: { code: 'MAX_ITERATIONS' } })
  })

  it('asks once unless attempts are given', async () => {
    for (const output of [schema, { schema }]) {
      const model = answers(WRONG, RIGHT)
      const outcome = await new TurnRunner({ model }).run({ message: 'Weather?', output })
      expect(outcome).toMatchObject({ status: 'failed', text: WRONG })
      expect(model.requests).toHaveLength(1)
    }
  })

  it('validates each answer once: a transform does not run twice', async () => {
    let runs = 0
    const counted = z.object({ n: z.number().transform((n) => (runs++, n)) })
    const model = answers('{"n":1}')
    const output = { schema: counted, attempts: 3 }
    const outcome = await new TurnRunner({ model }).run({ message: 'go', output })
    expect(outcome).toMatchObject({ status: 'completed', output: { n: 1 } })
    expect(runs).toBe(1)
  })

  it('shows a later turn the same history', async () => {
    const store = memoryStore()
    const turn = { conversation: 'c', message: 'Weather?' }
    await new TurnRunner({ store, model: answers(WRONG, RIGHT) }).run({
      ...turn,
      output: { schema, attempts: 2 },
    })
    const later = answers('ok')
    await new TurnRunner({ store, model: later }).run(turn)
    expect(textsOf(later)[0]).toEqual([
      'Weather?',
      WRONG,
      expect.stringContaining('Answer again'),
      RIGHT,
      'Weather?',
    ])
  })

  it.each([0, 11, 1.5, Number.NaN, '2'])('refuses %s attempts', async (attempts) => {
    const runner = new TurnRunner({ model: answers(RIGHT) })
    const output = { schema, attempts } as { schema: typeof schema; attempts: number }
    await expect(runner.run({ message: 'go', output })).rejects.toMatchObject({
      code: 'E_INVALID_TURN_INPUT',
      data: { path: 'output.attempts' },
    })
  })

  it('refuses an unknown member beside the schema', async () => {
    const runner = new TurnRunner({ model: answers(RIGHT) })
    const output = { schema, atempts: 2 }
    await expect(runner.run({ message: 'go', output })).rejects.toMatchObject({
      data: { path: 'output.atempts' },
    })
  })
})

describe('a sub-agent with an output', () => {
  it('gives JSON, after corrections', async () => {
    const inner = answers(WRONG, RIGHT)
    const weather = subAgent({
      name: 'weather',
      description: 'Tells the weather.',
      agent: { model: inner },
      output: { schema, attempts: 2 },
    })
    const model = scriptedModel([[{ call: 'weather', args: { task: 'Rome' } }], [{ text: 'ok' }]])
    const { toolCalls } = await new TurnRunner({ model, tools: [weather] }).run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'ok', results: { kind: 'json' } }])
    expect(JSON.stringify(model.requests[1]?.items)).toContain('\\"degrees\\": 21')
  })
})
