import { describe, expect, it } from 'vitest'
import type { CallItem, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { type Group, GroupEncoder, type GroupEncoderOptions, type Repair } from './encoder.ts'

const call = (id: string, more: Partial<CallItem> = {}): CallItem => ({
  type: 'call',
  id,
  tool: 'search',
  args: {},
  executedBy: 'runner',
  wire: { provider: 'p', api: 'there', type: 'call', callId: id, origin: 'natural' },
  result: { isError: false, parts: [{ type: 'text', text: `result of ${id}` }] },
  ...more,
})
const message = (role: 'user' | 'assistant', response?: string): HistoryItem => ({
  type: 'message',
  role,
  parts: [{ type: 'text', text: role }],
  ...(response !== undefined && { response }),
})

/** Entries that show the groups: `[a b]` for a response, the role for input. */
function encoder(options: Partial<GroupEncoderOptions<string>> = {}) {
  const repairs: Repair[] = []
  const groups = new GroupEncoder<string>({
    api: 'here',
    ids: { refused: /[^a-z0-9_~-]/g, maxLength: 40 },
    onRepair: (repair) => repairs.push(repair),
    encodeGroup: (group: Group, context) => {
      if (group.kind === 'input') return ['input']
      const names = group.items.map((item) => {
        if (item.type !== 'call') return item.type
        const { isError } = context.resultOf(item)
        return `${context.callId(item)}${isError ? '!' : ''}`
      })
      return [`[${names.join(' ')}]`]
    },
    ...options,
  })
  return { groups, repairs }
}

function groupsOf(...items: readonly HistoryItem[]) {
  const { groups, repairs } = encoder()
  groups.push(...items)
  return { entries: groups.entries(), repairs: repairs.map(({ kind, item }) => `${kind} ${item}`) }
}

describe('GroupEncoder', () => {
  it('keeps what came from one response together and responses apart', () => {
    const items = [
      message('user'),
      message('assistant', 'r1'),
      call('a', { response: 'r1' }),
      call('b', { response: 'r1' }),
      call('c', { response: 'r2' }),
      message('user'),
    ]
    expect(groupsOf(...items).entries).toEqual(['input', '[message a b]', '[c]', 'input'])
  })

  it('takes a run of calls of unknown origin for parallel ones', () => {
    const { entries } = groupsOf(call('a'), call('b'), message('assistant'), call('c'))
    expect(entries).toEqual(['[a b]', '[message c]'])
  })

  it('makes up for a missing result and says so once', () => {
    const { result: _, ...bare } = call('a')
    const { groups, repairs } = encoder()
    groups.push(bare)
    expect(groups.entries()).toEqual(['[a!]'])
    groups.push(message('user'))
    expect(groups.entries()).toEqual(['[a!]', 'input'])
    expect(repairs).toMatchObject([{ kind: 'missing-result', item: 'a' }])
  })

  it('puts a result that came apart onto its call', () => {
    const { result, ...bare } = call('a')
    const apart = call('a~2', { resultOnly: true, wire: bare.wire, ...(result && { result }) })
    expect(groupsOf(bare, apart)).toEqual({ entries: ['[a]'], repairs: [] })
  })

  it('reports a result whose call is nowhere', () => {
    const stray = call('a', { resultOnly: true })
    expect(groupsOf(message('user'), stray)).toEqual({
      entries: ['input', '[a]'],
      repairs: ['stray-result a'],
    })
  })

  it('takes it without a word when the provider holds the call', () => {
    const { groups, repairs } = encoder({ continues: true })
    groups.push(call('a', { resultOnly: true }))
    groups.entries()
    expect(repairs).toEqual([])
  })

  it('gives one item pushed twice two ids', () => {
    const twice = call('a')
    const [entry = ''] = groupsOf(twice, twice).entries
    const [first, second] = entry.slice(1, -1).split(' ')
    expect(first).toBe('a')
    expect(second).not.toBe('a')
  })

  it('gives opaque state back only under the key it came with', () => {
    const data = { api: 'here', endpoint: 'https://one', data: { items: [1] } }
    const open: OpenCallItem = {
      type: 'openCall',
      id: 'o',
      tool: 't',
      args: {},
      executedBy: 'provider',
      wire: { provider: 'p', api: 'here', type: 'c', origin: 'conflated' },
      providerData: data,
    }
    const seen = (options: Partial<GroupEncoderOptions<string>>) => {
      const { groups } = encoder({
        ...options,
        encodeGroup: (_, context) => [JSON.stringify(context.rawItems(open) ?? null)],
      })
      groups.push(open)
      return groups.entries()
    }
    expect(seen({})).toEqual(['[1]'])
    expect(seen({ endpoint: 'https://one' })).toEqual(['[1]'])
    expect(seen({ endpoint: 'https://two' })).toEqual(['null'])
    expect(seen({ api: 'there' })).toEqual(['null'])
  })

  it('keeps the id of a call whose result comes after the call was encoded', () => {
    const { result, ...bare } = call('a')
    const apart = call('a~2', { resultOnly: true, wire: bare.wire, ...(result && { result }) })
    const { groups } = encoder({ api: 'there' })
    groups.push(bare)
    expect(groups.entries()).toEqual(['[a!]'])
    groups.push(apart)
    expect(groups.entries()).toEqual(['[a]'])
  })

  it('goes on with one list, of which the closed groups never change', () => {
    const { groups } = encoder()
    groups.push(call('a', { response: 'r1' }))
    const list = groups.entries()
    expect([list, groups.final]).toEqual([['[a]'], 0])
    groups.push(call('b', { response: 'r1' }))
    expect(groups.entries()).toEqual(['[a b]'])
    groups.push(message('user'))
    expect([groups.entries(), groups.final]).toEqual([['[a b]', 'input'], 1])
    expect(groups.entries()).toBe(list)
  })

  it('encodes a group once when nothing is added to it', () => {
    let encoded = 0
    const { groups } = encoder({ encodeGroup: () => [`${++encoded}`] })
    groups.push(message('user'))
    groups.entries()
    groups.entries()
    groups.push(message('user'))
    expect(groups.entries()).toEqual(['1', '2'])
  })
})
