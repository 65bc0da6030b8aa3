import { describe, expect, it } from 'vitest'
import { type CallFacts, HistoryBuilder, type ResultFacts } from './history-builder.ts'
import { syntheticIds } from './synthetic-id.ts'

const secret = new Uint8Array(32).fill(3)
const build = () => new HistoryBuilder('api', 'provider', { mint: syntheticIds({ secret }) })

const call = (facts: Partial<CallFacts> = {}): CallFacts => ({
  type: 'call',
  tool: 'search',
  args: '{}',
  executedBy: 'runner',
  ...facts,
})
const result = (text: string, facts: Partial<ResultFacts> = {}): ResultFacts => ({
  type: 'output',
  tool: 'unknown',
  executedBy: 'runner',
  isError: false,
  parts: [{ type: 'text', text }],
  ...facts,
})

/** Which result each call has, by id. */
function answers(builder: HistoryBuilder) {
  return builder.items.map((item) => {
    const { type } = item
    if (type !== 'call') return type === 'openCall' ? [item.id, 'open'] : [type]
    const [part] = item.result?.parts ?? []
    return [item.id, part?.type === 'text' ? part.text : undefined]
  })
}

describe('HistoryBuilder', () => {
  it.each([[undefined], [null], ['']])('mints an id where the wire has %o', (callId) => {
    const builder = build()
    builder.call(call({ callId }))
    expect(builder.items[0]).toMatchObject({ id: expect.stringMatching(/^bob_/) })
    expect(builder.items[0]).toMatchObject({ wire: { origin: 'synthetic' } })
    expect(builder.items[0]).not.toHaveProperty('wire.callId')
  })

  it('uses the item id where the wire has no other, and says so', () => {
    const builder = build()
    builder.call(call({ itemId: 'ws_1', executedBy: 'provider', result: result('found') }))
    expect(builder.items[0]).toMatchObject({ id: 'ws_1', wire: { origin: 'conflated' } })
  })

  it('keeps ids apart that one payload uses twice', () => {
    const builder = build()
    builder.call(call({ callId: 'call_0' }))
    builder.call(call({ callId: 'call_0' }))
    expect(builder.items).toMatchObject([
      { id: 'call_0', wire: { callId: 'call_0' } },
      { id: 'call_0~2', wire: { callId: 'call_0' } },
    ])
  })

  it.each([
    ['runner', 'provider'],
    ['provider', 'runner'],
  ] as const)('keeps results apart when the %s and the %s use the same id', (first, second) => {
    const builder = build()
    builder.startResponse('r')
    builder.call(call({ callId: 'x', executedBy: first }))
    builder.call(call({ callId: 'x', executedBy: second }))
    builder.result(result(`of the ${second}`, { callId: 'x', executedBy: second }))
    builder.result(result(`of the ${first}`, { callId: 'x', executedBy: first }))
    expect(answers(builder)).toEqual([
      ['x', `of the ${first}`],
      ['x~2', `of the ${second}`],
    ])
  })

  it('never settles a call of the provider with what the runner answered', () => {
    const builder = build()
    builder.call(call({ callId: 'x', executedBy: 'provider' }))
    builder.result(result('ours', { callId: 'x' }))
    expect(answers(builder)).toEqual([
      ['x', 'open'],
      ['x~2', 'ours'],
    ])
  })

  it('adds a further result to the call that it names, or to one without a name', () => {
    const facts = { executedBy: 'provider' as const, pairKeys: ['type:code'] }
    const more = { ...facts, mayExtend: true }
    const builder = build()
    builder.call(call({ ...facts, callId: 'a' }))
    builder.result(result('one', { ...more, callId: 'a' }))
    builder.result(result('two', { ...more, callId: 'a' }))
    builder.result(result('of another', { ...more, callId: 'b' }))
    builder.call(call(facts))
    builder.result(result('three', more))
    builder.result(result('four', { ...more, callId: 'c' }))
    const texts = builder.items.flatMap((item) =>
      item.type === 'call'
        ? [item.result?.parts.map((part) => (part.type === 'text' ? part.text : ''))]
        : [],
    )
    expect(texts).toEqual([['one', 'two'], ['of another'], ['three', 'four']])
  })

  it('leaves a result in the response that brought it, even right after its call', () => {
    const builder = build()
    const facts = { callId: 'srv_1', executedBy: 'provider' } as const
    builder.startResponse('r1')
    builder.call(call({ ...facts, raw: { use: 1 } }))
    builder.endResponse()
    builder.startResponse('r2')
    builder.result(result('found', { ...facts, raw: { answer: 1 } }))
    expect(builder.items).toMatchObject([
      { type: 'call', result: { isError: false }, providerData: { data: { items: [{ use: 1 }] } } },
      { type: 'raw', value: { answer: 1 }, response: 'r2' },
    ])
  })

  it('settles results onto calls of one id in the order of the calls', () => {
    const builder = build()
    builder.startResponse()
    builder.call(call({ callId: 'call_0' }))
    builder.call(call({ callId: 'call_0' }))
    builder.result(result('first', { callId: 'call_0' }))
    builder.result(result('second', { callId: 'call_0' }))
    expect(answers(builder)).toEqual([
      ['call_0', 'first'],
      ['call_0~2', 'second'],
    ])
  })

  it('gives a reused id’s result to the latest response, not to an old unanswered call', () => {
    const builder = build()
    builder.startResponse()
    builder.call(call({ callId: 'call_0' }))
    builder.startResponse()
    builder.call(call({ callId: 'call_0' }))
    builder.result(result('new', { callId: 'call_0' }))
    expect(answers(builder)).toEqual([
      ['call_0', undefined],
      ['call_0~2', 'new'],
    ])
  })

  it('pairs by name and order without ids', () => {
    const builder = build()
    for (const name of ['a', 'b', 'a']) builder.call(call({ pairKeys: [`name:${name}`] }))
    builder.result(result('b1', { pairKeys: ['name:b'] }))
    builder.result(result('a1', { pairKeys: ['name:a'] }))
    builder.result(result('a2', { pairKeys: ['name:a'] }))
    expect(answers(builder).map(([, text]) => text)).toEqual(['a1', 'b1', 'a2'])
  })

  it('does not give a result that names its call to another that has a name', () => {
    const builder = build()
    builder.call(call({ callId: 'x', pairKeys: ['name:a'] }))
    builder.result(result('y', { callId: 'y', pairKeys: ['name:a'] }))
    expect(answers(builder)).toEqual([
      ['x', undefined],
      ['y', 'y'],
    ])
    expect(builder.items[1]).toMatchObject({ resultOnly: true, tool: 'unknown' })
  })

  it('keeps a provider’s call open until its result arrives', () => {
    const builder = build()
    const facts = { callId: 's1', executedBy: 'provider' as const }
    builder.call(call({ ...facts, raw: { n: 1 } }))
    expect(answers(builder)).toEqual([['s1', 'open']])
    builder.result(result('done', { ...facts, raw: { n: 2 } }))
    expect(answers(builder)).toEqual([['s1', 'done']])
    expect(builder.items[0]?.type === 'call' && builder.items[0].providerData?.data).toEqual({
      items: [{ n: 1 }, { n: 2 }],
    })
  })

  it('leaves a late result’s wire form in its place', () => {
    const builder = build()
    const facts = { callId: 's1', executedBy: 'provider' as const }
    builder.call(call({ ...facts, raw: { n: 1 } }))
    builder.message('assistant', [{ type: 'text', text: 'meanwhile' }])
    builder.result(result('done', { ...facts, raw: { n: 2 } }))
    expect(answers(builder)).toEqual([['s1', 'done'], ['message'], ['raw']])
    expect(builder.items[2]).toMatchObject({ value: { n: 2 } })
  })

  it('adds further results to the call that has one, where the wire sends several', () => {
    const builder = build()
    const key = { executedBy: 'provider' as const, pairKeys: ['code'], mayExtend: true }
    builder.call(call({ ...key }))
    builder.result(result('one', key))
    builder.result(result('two', key))
    expect(builder.items).toMatchObject([{ result: { parts: [{ text: 'one' }, { text: 'two' }] } }])
  })

  it.each([
    ['{"a":1,"a":2}', 'duplicate-key'],
    ['{"n":12345678901234567890}', 'unsafe-integer'],
    ['{"a":', 'not-json'],
    ['[1]', 'not-an-object'],
    ['['.repeat(20_000), 'too-deep'],
  ])('refuses arguments %.20s and keeps their text', (text, rule) => {
    const builder = build()
    builder.call(call({ callId: 'c', args: text }))
    expect(builder.items[0]).toMatchObject({ rawArgs: text, fault: { rule } })
    expect(builder.items[0]).toHaveProperty('args.$unparsed.sha256')
  })

  it('refuses arguments of 5 MB', () => {
    const builder = build()
    builder.call(call({ callId: 'c', args: `{"a":"${'x'.repeat(5_000_000)}"}` }))
    expect(builder.items[0]).toMatchObject({ fault: { rule: 'too-large' } })
  })

  it('reads missing arguments as an empty object', () => {
    const builder = build()
    for (const args of [undefined, null, '']) builder.call(call({ args }))
    expect(builder.items).toMatchObject([{ args: {} }, { args: {} }, { args: {} }])
  })
})
