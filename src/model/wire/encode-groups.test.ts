import { describe, expect, it } from 'vitest'
import type { CallItem, HistoryItem, OpenCallItem } from '../../records/history-item.ts'
import { encodeGroups, type Group, type GroupOptions, type Repair } from './encode-groups.ts'

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
function encode(items: readonly HistoryItem[], options: Partial<GroupOptions<string>> = {}) {
  const repairs: Repair[] = []
  const entries = encodeGroups<string>(items, {
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
  return { entries, repairs }
}

function groupsOf(...items: readonly HistoryItem[]) {
  const { entries, repairs } = encode(items)
  return { entries, repairs: repairs.map(({ kind, item }) => `${kind} ${item}`) }
}

describe('encodeGroups', () => {
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

  it('puts an error in the place of a missing result and reports it once', () => {
    const { result: _, ...bare } = call('a')
    const { entries, repairs } = encode([bare, message('user')])
    expect(entries).toEqual(['[a!]', 'input'])
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

  it('reports nothing of that when the provider holds the call', () => {
    const { repairs } = encode([call('a', { resultOnly: true })], { continues: true })
    expect(repairs).toEqual([])
  })

  it('gives an item that is listed twice two ids', () => {
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
    const seen = (options: Partial<GroupOptions<string>>) =>
      encode([open], {
        ...options,
        encodeGroup: (_, context) => [JSON.stringify(context.rawItems(open) ?? null)],
      }).entries
    expect(seen({})).toEqual(['[1]'])
    expect(seen({ endpoint: 'https://one' })).toEqual(['[1]'])
    expect(seen({ endpoint: 'https://two' })).toEqual(['null'])
    expect(seen({ api: 'there' })).toEqual(['null'])
  })

  it('does not take the result of a call that the provider opens only later', () => {
    const wire = { provider: 'p', api: 'here', type: 'c', callId: 'x', origin: 'natural' } as const
    const providerData = { api: 'here', data: { items: [1] } }
    const facts = { id: 'x', tool: 't', args: {}, executedBy: 'provider', wire } as const
    const open: OpenCallItem = { ...facts, type: 'openCall', response: 'r2' }
    const result: CallItem = {
      ...facts,
      type: 'call',
      resultOnly: true,
      result: { isError: false, parts: [] },
      providerData,
      response: 'r1',
    }
    const isSent = (items: readonly HistoryItem[]) =>
      encode(items, {
        encodeGroup: (group, context) =>
          group.kind === 'response' && group.items.includes(result)
            ? [JSON.stringify(context.rawItems(result) ?? null)]
            : [],
      }).entries
    expect(isSent([open, result])).toEqual(['[1]'])
    expect(isSent([result, open])).toEqual(['null'])
  })

  it('gives a result that came later to its call, where the wire lets none wait', () => {
    const { result, ...asked } = call('a', { response: 'r1' })
    const items = [asked, message('user'), call('a2', { resultOnly: true, wire: asked.wire })]
    expect(groupsOf(...items)).toEqual({ entries: ['[a]', 'input'], repairs: [] })
    expect(result).toBeDefined()
  })

  it('gives results of a reused id to the calls of the latest response, in order', () => {
    const open = (id: string, response: string) => {
      const { result: _, ...asked } = call(id, { response })
      return { ...asked, wire: { ...asked.wire, callId: 'same' } }
    }
    const late = (id: string, isError: boolean) => ({
      ...call(id, { resultOnly: true, result: { isError, parts: [] } }),
      wire: open('a', 'r1').wire,
    })
    const items = [open('a', 'r1'), open('b', 'r2'), open('c', 'r2'), message('user')]
    const { entries } = groupsOf(...items, late('d', true), late('e', false))
    expect(entries).toEqual(['[a!]', '[b! c]', 'input'])
  })
})
