import { describe, expect, it } from 'vitest'
import { byHand } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error/error.ts'
import type { ModelEvent } from '../model/events/model-event.ts'
import { syntheticIds } from '../model/wire/synthetic-id.ts'
import { scriptedModel } from './scripted-model.ts'

async function ask(model: ReturnType<typeof scriptedModel>, options = {}) {
  const events: ModelEvent[] = []
  for await (const event of model.stream({ items: [] }, options)) events.push(event)
  return events
}

const call = (events: readonly ModelEvent[]) => {
  const last = events.at(-1)
  const item = last?.type === 'finish' ? last.items.find(({ type }) => type === 'call') : undefined
  return item?.type === 'call' ? item : undefined
}

describe('scriptedModel', () => {
  it('streams its parts and finishes with them', async () => {
    const model = scriptedModel([
      [{ thought: 'hm' }, { text: 'Hello' }, { call: 'add', args: { a: 1 }, id: 'call_1' }],
    ])
    const events = await ask(model)
    expect(events.map(({ type }) => type)).toEqual(['thought', 'text', 'toolInput', 'finish'])
    expect(events.at(-1)).toMatchObject({
      reason: 'tools',
      unfinished: [],
      items: [
        { type: 'thought', text: 'hm' },
        { type: 'message', role: 'assistant' },
        {
          type: 'call',
          id: 'call_1',
          args: { a: 1 },
          wire: { callId: 'call_1', origin: 'natural' },
        },
      ],
    })
    expect(() => model.done()).not.toThrow()
  })

  it('mints ids for calls without one, the same for the same place', async () => {
    const steps = [[{ call: 'add' }], [{ call: 'add' }]]
    const mint = syntheticIds({ secret: new Uint8Array(32) })
    const model = scriptedModel(steps)
    const [first, second] = [call(await ask(model, { mint })), call(await ask(model, { mint }))]
    expect(first?.id).toMatch(/^bob_/)
    expect(second?.id).toBe(first?.id)
    expect(first?.wire.origin).toBe('synthetic')
  })

  it('keeps the text of arguments that are not JSON', async () => {
    const events = await ask(scriptedModel([[{ call: 'add', args: '{"a":' }]]))
    expect(call(events)).toMatchObject({ rawArgs: '{"a":', fault: { rule: 'not-json' } })
  })

  it('refuses a request after its last step, at once and when it is done', async () => {
    const model = scriptedModel([])
    await expect(ask(model)).rejects.toMatchObject({ code: 'E_SCRIPT' })
    expect(() => model.done()).toThrow(/request 1 came after the last of 0 steps/)
  })

  it('counts unused steps as an error', async () => {
    const model = scriptedModel([[{ text: 'a' }], [{ text: 'b' }]])
    await ask(model)
    expect(model.remaining).toBe(1)
    expect(() => model.done()).toThrow(/1 steps were never asked for/)
  })

  it('fails with the error of its step, and breaks off without a finish', async () => {
    const error = new BobbinError('E_STREAM_BROKEN', 'cut', { reason: 'cut' })
    const model = scriptedModel([
      { parts: [{ text: 'half' }], error },
      { parts: [{ text: 'half' }], breaksOff: true },
    ])
    await expect(ask(model)).rejects.toBe(error)
    expect((await ask(model)).map(({ type }) => type)).toEqual(['text'])
  })

  it('waits until it is released or aborted', async () => {
    const gate = byHand()
    const model = scriptedModel([{ until: gate.promise }, { until: byHand().promise }])
    const waiting = ask(model)
    gate.resolve()
    await expect(waiting).resolves.toHaveLength(1)
    const abort = new AbortController()
    const stuck = ask(model, { signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(stuck).rejects.toThrow('enough')
  })

  it('remembers each request as it was sent', async () => {
    const model = scriptedModel([{ check: (request) => expect(request.items).toEqual([]) }])
    const items: [] = []
    for await (const _ of model.stream({ items, instructions: 'be brief' })) items.length = 0
    expect(model.requests).toMatchObject([{ instructions: 'be brief', items: [] }])
    expect(model.requests[0]?.items).not.toBe(items)
  })

  it.each([
    [undefined, /its script must be a list of steps/],
    [['Hello.'], /step 1 must be a list of parts/],
    [[[], () => [{ text: 'Hello.' }]], /step 2 must be a list of parts/],
    [[{ text: 'Hello.' }], /step 1 has `text`, .*: put it in a list, `\[\{ … \}\]`/],
    [[{ parts: [], usages: {} }], /step 1 has `usages`, which is not a part of a step\.$/],
    [[[{ txt: 'Hello.' }]], /parts of step 1 must each be one of text, thought, call, item/],
  ])('refuses a script by which it would say nothing: %j', (steps, why) => {
    expect(() => scriptedModel(steps as never)).toThrow(why)
  })
})
