import { describe, expect, it } from 'vitest'
import { type Repair, wire } from '../../../../wire/index.ts'
import answered from '../fixtures/history-async.json' with { type: 'json' }
import open from '../fixtures/history-async-open.json' with { type: 'json' }

const codec = wire('openai-responses')

describe('async calls', () => {
  it('stay open, and their outputs come later under the old ids, without a repair', () => {
    for (const { payload } of [open, answered]) {
      const repairs: Repair[] = []
      const { items } = codec.decode(payload)
      const part = codec.encode(items, { onRepair: (repair) => repairs.push(repair) })
      expect(part).toEqual({ input: payload })
      expect(repairs).toEqual([])
      expect(codec.validate(part)).toEqual([])
    }
  })

  it('are answered right away on other protocols', () => {
    const { items } = codec.decode(answered.payload)
    const repairs: Repair[] = []
    const claude = wire('anthropic-messages')
    const part = claude.encode(items, { onRepair: (repair) => repairs.push(repair) })
    expect(claude.validate(part)).toEqual([])
    expect(repairs).toEqual([])
    expect(JSON.stringify(part)).toContain('"tool_use_id":"call_slow","content":"snow"')
  })

  it('have an error for a result on other protocols while they are open', () => {
    const { items } = codec.decode(open.payload)
    const repairs: string[] = []
    wire('openai-chat').encode(items, {
      onRepair: ({ kind, item }) => repairs.push(`${kind} ${item}`),
    })
    expect(repairs).toEqual(['missing-result call_slow', 'missing-result call_note'])
  })

  it('wait only where their provider reads that they are async', () => {
    const { items } = codec.decode(open.payload)
    const elsewhere = items.map((item) =>
      item.type === 'call' && item.providerData
        ? { ...item, providerData: { ...item.providerData, endpoint: 'https://one' } }
        : item,
    )
    const part = codec.encode(elsewhere, { endpoint: 'https://other' })
    expect(codec.validate(part)).toEqual([])
    expect(JSON.stringify(part)).not.toContain('"async"')
  })

  it('are refused twice under one id, as any call', () => {
    const [question, call] = open.payload
    const rules = codec.validate({ input: [question, call, call] }).map(({ rule }) => rule)
    expect(rules).toEqual(['duplicate-call-id'])
  })

  it('ask for their tools like any call', () => {
    const call = {
      type: 'function_call',
      call_id: 'c',
      name: 'weather',
      arguments: '{}',
      async: true,
    }
    const { finish } = codec.decode({ id: 'r', status: 'completed', output: [call] })
    expect(finish).toMatchObject({ reason: 'tools' })
  })
})
