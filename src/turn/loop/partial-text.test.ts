import { describe, expect, it } from 'vitest'
import { byHand } from '../../../test/turn-samples.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import { Message } from '../../records/message.ts'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Executor } from '../executor/executor.ts'
import { TurnRunner } from '../turn-runner.ts'

/** An executor that writes half an answer and then ends as the test says; it answers whole afterwards. */
function halfway(end: () => Promise<never>) {
  const seen: (readonly HistoryItem[])[] = []
  let asked = 0
  const executor: Executor = async (ctx, { message, thought }) => {
    seen.push([...ctx.items])
    if (asked++ > 0) return { answer: 'whole' }
    thought({ id: 't', delta: 'hm' })
    message({ id: 'm', delta: 'It is ' })
    message({ id: 'm', delta: 'about' })
    return end()
  }
  return { executor, seen }
}

const textsOf = (items: readonly HistoryItem[] = []) =>
  items.map((item) =>
    item.type === 'message'
      ? item.parts.map((part) => (part.type === 'text' ? part.text : '')).join('|')
      : item.type,
  )

const NOTE = '[This answer was cut off here: the turn ended before it was complete.]'

const broken = () =>
  Promise.reject(new BobbinError('E_STREAM_BROKEN', 'Cut.', { reason: 'no terminal event' }))

describe('text that was cut off', () => {
  it.each<[string, () => Promise<never>, object, string]>([
    ['by an abort', () => new Promise<never>(() => {}), {}, 'aborted'],
    ['by a failure', broken, { retries: 0 }, 'failed'],
    ['by a limit', () => new Promise<never>(() => {}), { limits: { timeMs: 30 } }, 'stopped'],
  ])('%s is stored, told, and shown to the model as such', async (_, end, options, status) => {
    const store = memoryStore()
    const { executor, seen } = halfway(end)
    const runner = new TurnRunner({ store, executor, ...options })
    const turn = runner.run({ conversation: 'c', message: 'go' })
    if (status === 'aborted') setTimeout(turn.abort, 20)
    const events: FeedEvent[] = []
    for await (const event of turn) events.push(event)
    expect(await turn).toMatchObject({ status, text: 'It is about' })
    const streamed = events.flatMap((event) =>
      event.type === 'message' && event.delta !== undefined ? [event.id] : [],
    )
    const stored = events.filter((event) => event.type === 'message').at(-1)
    const whole = { id: streamed[0], text: 'It is about', isComplete: true, partial: true }
    expect(stored).toMatchObject({ ...whole, role: 'assistant' })
    const entry = await store.get('c', 'message', streamed[0] ?? '')
    expect(Message.fromJSON(entry?.data).partial).toBe(true)
    await runner.run({ conversation: 'c', message: 'again' })
    expect(textsOf(seen[1])).toEqual(['go', `It is about|${NOTE}`, 'again'])
    expect((await store.verify({ conversation: 'c' })).ok).toBe(true)
  })

  it('is not the last thing in a request: a model that continues begins its text anew', async () => {
    const store = memoryStore()
    const { executor, seen } = halfway(broken)
    const runner = new TurnRunner({ store, executor, retries: 0 })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(await runner.recover({ conversation: 'c' })).toMatchObject({ text: 'whole' })
    expect(textsOf(seen[1])).toEqual(['go'])
    await runner.run({ conversation: 'c', message: 'more' })
    expect(textsOf(seen[2])).toEqual(['go', `It is about|${NOTE}`, 'whole', 'more'])
  })

  it('is not kept of an attempt that was tried again', async () => {
    const store = memoryStore()
    const { executor } = halfway(broken)
    const runner = new TurnRunner({
      store,
      executor,
      testing: { sleep: async () => undefined },
    })
    expect(await runner.run({ conversation: 'c', message: 'go' })).toMatchObject({ text: 'whole' })
    expect(await store.count({ kind: 'message' })).toBe(2)
  })

  it('survives a stop from elsewhere', async () => {
    const { executor } = halfway(() => byHand<never>().promise)
    const runner = new TurnRunner({ executor })
    const turn = runner.run({ conversation: 'c', message: 'go' })
    for await (const event of turn) if (event.type === 'message' && event.delta) break
    expect(await runner.stop({ conversation: 'c' })).toEqual({ turnId: turn.turnId })
    expect(await turn).toMatchObject({ status: 'aborted', text: expect.stringMatching(/^It is/) })
  })
})
