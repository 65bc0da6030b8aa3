import { describe, expect, it } from 'vitest'
import { type HistoryItem, wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { samplesOf } from './provider-samples.ts'

const secret = new Uint8Array(32).fill(3)
const apis = providers.map(({ api }) => api)

type Id = string | null | undefined

const cases: readonly (readonly [string, readonly Id[]])[] = [
  ['missing', [undefined, undefined]],
  ['null', [null, null]],
  ['empty', ['', '', '']],
  ['missing beside others', ['', 'x', null, undefined]],
  ['repeated', ['a', 'a', 'a']],
  ['repeated, beside ids that look like ours', ['a', 'a', 'a~2', 'a~2', 'a~3']],
  ['taken by one that looks like ours', ['a~2', 'a', 'a']],
  ['just too long', ['a'.repeat(65)]],
  ['10,000 characters long', ['x'.repeat(10_000), `${'x'.repeat(9_999)}y`]],
  ['of odd characters', ['functions.t:0', 'ü/.: ', 'with space', 'a\u0000b', '\ud800']],
  ['names of every object', ['__proto__', 'constructor', 'toString']],
]

const matrix = apis.flatMap((api) => cases.map(([name, ids]) => [api, name, ids] as const))

const results = (items: readonly HistoryItem[]) =>
  items.flatMap((item) => (item.type === 'call' ? [item.result?.parts] : []))

describe.each(matrix)('%s with ids that are %s', (api, _, ids) => {
  const { items, calls } = wire(api, { secret }).decode(samplesOf(api).idHistory(ids))
  const expected = ids.map((_id, at) => [{ type: 'text', text: `result ${at}` }])

  it('gives each call its own id and its own result', () => {
    expect(results(items)).toEqual(expected)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(ids.length)
    for (const [at, { wire: reference }] of calls.entries()) {
      expect(reference.origin).toBe(ids[at] ? 'natural' : 'synthetic')
      expect(reference.callId).toBe(ids[at] || undefined)
    }
  })

  it.each(apis)('breaks no rule of %s and crosses no results there', (target) => {
    const codec = wire(target, { secret })
    const part = codec.encode(items)
    expect(codec.validate(part)).toEqual([])
    expect(results(codec.decode(part).items)).toEqual(expected)
  })
})

describe.each(['openai-responses', 'foundry'] as const)('%s', (api) => {
  it('sends calls that we answer under their call id, without the id of the stored item', () => {
    const action = { type: 'exec', command: ['ls'], env: {} }
    const asked = [
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 't', arguments: '{}' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 't', input: 'x' },
      { type: 'apply_patch_call', id: 'apc_1', call_id: 'c3', operation: { type: 'create_file' } },
      { type: 'shell_call', id: 'sh_1', call_id: 'c4', action: { commands: ['ls'] } },
      { type: 'tool_search_call', id: 'ts_1', call_id: 'c5', execution: 'client', arguments: {} },
      { type: 'computer_call', id: 'cu_1', call_id: 'c6', actions: [] },
      { type: 'local_shell_call', id: 'lsh_1', call_id: 'c7', action },
    ]
    const codec = wire(api, { secret })
    const { items, calls } = codec.decode(asked)
    const kept = calls.map((call) => [call.wire.callId, call.wire.itemId])
    expect(kept).toEqual(asked.map(({ call_id, id }) => [call_id, id]))
    const { input } = codec.encode(items) as { input: { id?: string; call_id: string }[] }
    expect(input.slice(0, 7).map(({ call_id }) => call_id)).toEqual(asked.map((a) => a.call_id))
    expect(input.flatMap(({ id }) => id ?? [])).toEqual(['cu_1', 'lsh_1'])
  })

  it('continues a stored response under the ids that the provider knows', () => {
    const id = 'a'.repeat(65)
    const output = samplesOf(api).idHistory([id]).at(-1) as object
    const codec = wire(api, { secret })
    expect(codec.encode(codec.decode([output]).items, { continues: true })).toEqual({
      input: [output],
    })
  })
})
