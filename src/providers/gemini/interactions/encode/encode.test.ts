import { describe, expect, it } from 'vitest'
import type { CallItem, HistoryItem } from '../../../../records/history-item.ts'
import { type Repair, wire } from '../../../../wire/index.ts'

const codec = wire('gemini-interactions', { secret: new Uint8Array(32) })
const SKIP = { type: 'thought', signature: 'skip_thought_signature_validator' }

const user = (text: string): HistoryItem => ({
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text }],
})
const foreign = (id: string, more: Partial<CallItem> = {}): CallItem => ({
  type: 'call',
  id,
  tool: 'pay',
  args: { sum: 1 },
  executedBy: 'runner',
  response: 'r1',
  wire: { provider: 'p', api: 'elsewhere', type: 'call', callId: id, origin: 'natural' },
  result: { isError: false, parts: [{ type: 'text', text: 'paid' }] },
  ...more,
})
const encode = (items: readonly HistoryItem[], modelFamily?: string) => {
  const repairs: Repair[] = []
  const onRepair = (repair: Repair) => repairs.push(repair)
  const options = { onRepair, ...(modelFamily !== undefined && { modelFamily }) }
  const { input } = codec.encode(items, options) as { input: object[] }
  return { input, repairs }
}

describe('encode of Interactions', () => {
  const call = (id: string) => ({ type: 'function_call', id, name: 'pay', arguments: { sum: 1 } })
  const result = (call_id: string) => ({
    type: 'function_result',
    call_id,
    name: 'pay',
    result: 'paid',
  })

  it.each([
    ['gemini-3.8-flash', [SKIP]],
    ['gemini-2.5-flash', []],
    [undefined, [SKIP]],
  ])('puts the escape before the first call of another provider for %s', (family, escape) => {
    const items = [user('Go'), foreign('a'), foreign('b')]
    const { input } = encode(items, family)
    expect(input.slice(1)).toEqual([...escape, call('a'), call('b'), result('a'), result('b')])
  })

  it('sends its own calls behind the thought that signed them, and adds nothing', () => {
    const steps = [
      { type: 'user_input', content: [{ type: 'text', text: 'Go' }] },
      { type: 'thought', signature: 'c2ln' },
      call('a'),
      result('a'),
    ]
    expect(encode(codec.decode(steps).items, 'gemini-3.8-flash')).toEqual({
      input: steps,
      repairs: [],
    })
  })

  it('leaves out a thought that came unsigned, and covers the call', () => {
    const steps = [
      { type: 'user_input', content: [{ type: 'text', text: 'Go' }] },
      { type: 'thought', signature: '', summary: [{ type: 'text', text: 'Hm.' }] },
      call('a'),
      result('a'),
    ]
    const { items } = codec.decode(steps)
    const { input, repairs } = encode(items, 'gemini-3.8-flash')
    expect(input).toEqual([steps[0], SKIP, call('a'), result('a')])
    expect(repairs).toMatchObject([{ kind: 'left-out', item: 'thought' }])
  })

  it('keeps signatures from another model', () => {
    const decoded = wire('gemini-interactions').decode([
      { type: 'thought', signature: 'c2ln' },
      call('a'),
      result('a'),
    ])
    const items = decoded.items.map((item) =>
      'providerData' in item && item.providerData !== undefined
        ? { ...item, providerData: { ...item.providerData, modelFamily: 'gemini-3.8-flash' } }
        : item,
    )
    const sent = JSON.stringify(encode(items, 'gemini-2.5-flash').input)
    expect(sent).not.toContain('c2ln')
  })

  it('joins system messages at the beginning, and leaves later ones in their place', () => {
    const system = (text: string): HistoryItem => ({ ...user(text), role: 'system' }) as HistoryItem
    expect(codec.encode([system('A'), system('B'), user('Go'), system('C')])).toEqual({
      system_instruction: 'A\n\nB',
      input: ['Go', 'C'].map((text) => ({ type: 'user_input', content: [{ type: 'text', text }] })),
    })
  })

  it('sends media inside of a result', () => {
    const media = {
      type: 'media',
      kind: 'image',
      source: { type: 'base64', data: 'AAAA' },
    } as const
    const parts = [{ type: 'text', text: 'Drawn.' } as const, media]
    const { input } = encode([user('Go'), foreign('a', { result: { isError: true, parts } })])
    expect(input.at(-1)).toEqual({
      type: 'function_result',
      call_id: 'a',
      name: 'pay',
      is_error: true,
      result: [
        { type: 'text', text: 'Drawn.' },
        { type: 'image', data: 'AAAA', mime_type: 'image/png' },
      ],
    })
  })

  it('adds input where a history begins with a call or ends with the model', () => {
    const answer: HistoryItem = { ...user('Done.'), role: 'assistant' } as HistoryItem
    const { input, repairs } = encode([foreign('a'), answer])
    expect(input.at(0)).toMatchObject({ type: 'user_input' })
    expect(input.at(-1)).toMatchObject({ type: 'user_input' })
    expect(repairs.map(({ kind }) => kind)).toEqual(['added', 'added'])
  })

  it('answers calls of a stored interaction without repeating them', () => {
    const { items } = codec.decode([{ type: 'function_result', call_id: 'a', result: 'paid' }])
    expect(codec.encode(items, { continues: true })).toEqual({
      input: [{ type: 'function_result', call_id: 'a', result: 'paid' }],
    })
  })

  it('sends the steps of a tool that it ran once, and tells others in words', () => {
    const steps = [
      { type: 'google_search_call', id: 's1', arguments: { queries: ['x'] } },
      { type: 'google_search_result', call_id: 's1', result: [] },
    ]
    const { items } = codec.decode(steps)
    const { input } = encode([...items, ...items, user('And?')])
    expect(input.slice(0, 2)).toEqual(steps)
    expect(JSON.stringify(input).match(/google_search_call/g)).toHaveLength(1)
    expect(JSON.stringify(wire('openai-chat').encode(items))).toContain('google_search')
  })
})

describe('a step of an unknown tool', () => {
  it('goes back once, also where the history has it twice', () => {
    const value = { type: 'weather_watch_call', id: 'w1' }
    const raw: HistoryItem = { type: 'raw', api: 'gemini-interactions', value }
    const { input, repairs } = encode([user('Go'), raw, raw])
    expect(input.filter((step) => 'id' in step)).toEqual([value])
    expect(repairs).toContainEqual(expect.objectContaining({ kind: 'left-out' }))
    expect(codec.validate({ input })).toEqual([])
  })
})
