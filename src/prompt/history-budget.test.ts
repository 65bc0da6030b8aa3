import { describe, expect, it } from 'vitest'
import type { CallItem, HistoryItem, MessageItem, OpenCallItem } from '../records/history-item.ts'
import { Memory } from '../records/memory.ts'
import { ToolCall } from '../records/tool-call.ts'
import { HistoryBudget } from './history-budget.ts'
import { contextRenderer } from './render-context.ts'

const perCharacter = async (text: string) => ({ tokens: text.length, isEstimate: false })
const text = (content: string) => [{ type: 'text', text: content }] as const
const said = (content: string): MessageItem => ({
  type: 'message',
  role: 'user',
  parts: text(content),
})

function settled(id: string, characters: number): [CallItem, ToolCall] {
  const call = new ToolCall({
    id,
    tool: 't',
    args: {},
    results: 'x',
    isComplete: true,
    isError: false,
    createdAt: 0,
    completedAt: 0,
  })
  const item: CallItem = {
    type: 'call',
    id,
    tool: 't',
    args: {},
    wire: { provider: 'p', api: 'a', type: 'call', origin: 'synthetic' },
    executedBy: 'runner',
    result: { isError: false, parts: text('x'.repeat(characters)) },
    response: `response-${id}`,
  }
  return [item, call]
}

const handle = { isError: false, parts: text('[h]') }

function budgetOf(limit: number) {
  let handles = 0
  const budget = new HistoryBudget({
    limit,
    target: 1,
    count: perCharacter,
    handleOf: () => {
      handles++
      return Promise.resolve(handle)
    },
  })
  return { budget, handles: () => handles }
}

const wire = { provider: 'p', api: 'a', type: 's', origin: 'natural', callId: 'ws' } as const
const asked = { id: 'ws', tool: 't', args: {}, wire, executedBy: 'provider' } as const
const open: OpenCallItem = { ...asked, type: 'openCall', response: 'r1' }
const late: CallItem = {
  ...asked,
  type: 'call',
  id: 'ws~2',
  result: { isError: false, parts: text('found') },
  resultOnly: true,
  response: 'r2',
}

describe('HistoryBudget', () => {
  it('gives other providers the handle too, where a provider ran the call', async () => {
    const { budget } = budgetOf(20)
    const [item, call] = settled('a', 30)
    await budget.append({ ...item, foreign: { asked: 'asked', found: 'found' } }, call)
    await budget.append(said('go'))
    const { items } = await budget.fit({})
    expect(items[0]).toMatchObject({ result: handle })
    expect((items[0] as CallItem).foreign).toEqual({ asked: 'asked' })
  })

  it('hands out everything while it fits', async () => {
    const { budget, handles } = budgetOf(1_000)
    await budget.append(said('hello'))
    expect((await budget.fit({ instructions: 'Be brief.' })).items).toEqual([said('hello')])
    await budget.append(...settled('c1', 100))
    const second = await budget.fit({ instructions: 'Be brief.', output: { type: 'object' } })
    expect(second.items).toEqual([said('hello'), settled('c1', 100)[0]])
    expect(second.report.parts.instructions.tokens).toBe(9)
    expect(second.report.parts.output.tokens).toBe(17)
    expect(second.report.parts.history.tokens).toBe(9 + 4 + 2 + 1 + 2 + 100)
    expect(handles()).toBe(0)
  })

  it('shows old results as handles, and makes each handle once', async () => {
    const { budget, handles } = budgetOf(250)
    await budget.append(said('hello'))
    await budget.append(...settled('c1', 150))
    await budget.append(...settled('c2', 150))
    const { items, report } = await budget.fit({})
    expect(report).toMatchObject({ fits: true, turnedToHandles: ['c1'], dropped: [] })
    expect(items.map(resultText)).toEqual([undefined, '[h]', 'x'.repeat(150)])
    await budget.append(...settled('c3', 150))
    const later = await budget.fit({})
    expect(later.items[1]).toBe(items[1])
    expect(later.items.map(resultText).slice(1, 3)).toEqual(['[h]', '[h]'])
    expect(handles()).toBe(2)
  })

  it('drops a response with its reasoning and all of its calls', async () => {
    const { budget } = budgetOf(150)
    await budget.append(said('hello'))
    const thought: HistoryItem = { type: 'thought', text: 'hm', response: 'response-c1' }
    await budget.append(thought)
    const [first] = settled('c1', 100)
    await budget.append(first)
    const [second] = settled('c2', 100)
    await budget.append(second)
    const { items, report } = await budget.fit({})
    expect(report.dropped).toEqual(['#1', 'c1'])
    expect(items).toEqual([said('hello'), second])
  })

  it('drops an open call together with the response that settles it, or neither', async () => {
    const { budget } = budgetOf(150)
    await budget.append(said('hello'))
    await budget.append({ type: 'thought', text: 'x'.repeat(100), response: 'r1' })
    await budget.append(open)
    await budget.append({ type: 'thought', text: 'x'.repeat(30), response: 'r2' })
    await budget.append(late)
    const tight = await budget.fit({})
    expect(tight.report).toMatchObject({ fits: false, dropped: [] })
    const [next] = settled('c1', 10)
    await budget.append(next)
    const { items, report } = await budget.fit({})
    expect(report).toMatchObject({ fits: true, dropped: ['#1', 'ws', '#3', 'ws~2'] })
    expect(items).toEqual([said('hello'), next])
  })

  it('keeps a call that is still open until its result has come', async () => {
    const { budget } = budgetOf(100)
    const [first] = settled('c1', 60)
    const [second] = settled('c2', 60)
    const [third] = settled('c3', 50)
    await budget.append(said('hello'))
    await budget.append(open)
    await budget.append(first)
    await budget.append(second)
    expect((await budget.fit({})).items).toEqual([said('hello'), open, second])
    await budget.append(late)
    await budget.append(third)
    const { items, report } = await budget.fit({})
    expect(report).toMatchObject({ fits: true, dropped: ['c2'] })
    expect(items).toEqual([said('hello'), open, late, third])
    const [fourth] = settled('c4', 80)
    await budget.append(fourth)
    const last = await budget.fit({})
    expect(last.report).toMatchObject({ fits: true, dropped: ['ws', 'ws~2', 'c3'] })
    expect(last.items).toEqual([said('hello'), fourth])
  })

  it.each([
    ['was declined', { gate: { kind: 'approval', decision: { approved: false } } }],
    ['its wire has no name for', { wire: { ...wire, callId: undefined } }],
  ] as [string, object][])('drops an open call that %s', async (_, more) => {
    const { budget } = budgetOf(100)
    const [next] = settled('c1', 80)
    await budget.append(said('hello'))
    await budget.append({ ...open, ...more })
    await budget.append(next)
    expect((await budget.fit({})).items).toEqual([said('hello'), next])
  })

  it('leaves out what an open call of an earlier turn gave when that call is gone', async () => {
    const { budget } = budgetOf(100)
    const [next] = settled('c1', 70)
    await budget.append(said('hello'))
    await budget.append(open)
    await budget.append(said('continue'))
    await budget.append(next)
    expect((await budget.fit({})).report.dropped).toEqual(['#0', 'ws'])
    const answer = {
      type: 'message',
      role: 'assistant',
      parts: text('ok'),
      response: 'r2',
    } as const
    await budget.append(late)
    await budget.append(answer)
    const { items, report } = await budget.fit({})
    expect(report).toMatchObject({ fits: true, dropped: ['ws~2'] })
    expect(items).toEqual([said('continue'), next, answer])
    expect((await budget.fit({})).report.dropped).toEqual([])
  })

  it('leaves out the context that weighs least when the rest cannot go', async () => {
    const render = contextRenderer(new Uint8Array(32))
    const memory = (id: string, importance: number) =>
      new Memory({ id, content: 'm'.repeat(50), importance, createdAt: 0 })
    const { pieces } = render({ memories: [memory('light', 0.1), memory('heavy', 0.9)] })
    const { budget } = budgetOf(350)
    await budget.append(said('hello'))
    const { context, report } = await budget.fit({ context: pieces })
    expect(context.map(({ id }) => id)).toEqual(['heavy'])
    expect(report).toMatchObject({ fits: true, droppedContext: ['light'] })
  })

  it('says so when the least that must be sent does not fit', async () => {
    const { budget } = budgetOf(10)
    await budget.append(said('x'.repeat(50)))
    const { report, items } = await budget.fit({ instructions: 'y'.repeat(20) })
    expect(report.fits).toBe(false)
    expect(items).toHaveLength(1)
  })
})

function resultText(item: HistoryItem): string | undefined {
  const part = item.type === 'call' ? item.result?.parts[0] : undefined
  return part?.type === 'text' ? part.text : undefined
}
