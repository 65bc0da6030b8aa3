import { describe, expect, it } from 'vitest'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import { GroupEncoder, type Repair } from './encoder.ts'
import { growingPart } from './growing-part.ts'
import type { WireAdapter } from './wire-adapter.ts'

interface TextPart {
  readonly texts: string[]
}

/** A wire of plain texts that counts what it encodes. */
function countingWire() {
  const counts = { groups: 0, encoders: 0 }
  const adapter: WireAdapter<TextPart> = {
    api: 'openai-chat',
    provider: 'p',
    decode: () => ({ items: [] }),
    decodeStream: () => ({ push: () => [], end: () => [], partial: () => [] }),
    validate: () => [],
    encoder: (options) => {
      counts.encoders++
      const groups = new GroupEncoder<string>({
        ...options,
        api: 'openai-chat',
        ids: { refused: /[^a-z0-9]/g, maxLength: 40 },
        encodeGroup: (group, context) => {
          counts.groups++
          const items = group.kind === 'input' ? [group.item] : group.items
          return items.map((item) => {
            if (item.type === 'raw') throw new Error('no form')
            return item.type === 'call' ? JSON.stringify(context.resultOf(item)) : item.type
          })
        },
      })
      return {
        push: (item) => groups.push(item),
        part: () => ({ texts: groups.entries() }),
      }
    },
  }
  return { adapter, counts }
}

const call = (id: string, result?: string): CallItem => ({
  type: 'call',
  id,
  tool: 't',
  args: {},
  executedBy: 'runner',
  response: id,
  wire: { provider: 'p', api: 'elsewhere', type: 'call', callId: id, origin: 'natural' },
  ...(result !== undefined && {
    result: { isError: false, parts: [{ type: 'text', text: result }] },
  }),
})
const calls = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => call(`c${from + at}`, 'ok'))

describe('growingPart', () => {
  it('encodes what is new, however long the history is', () => {
    const { adapter, counts } = countingWire()
    const partOf = growingPart(adapter, {})
    const items: HistoryItem[] = calls(0, 1000)
    partOf(items)
    const before = counts.groups
    items.push(call('new', 'ok'))
    expect(partOf(items).texts).toHaveLength(1001)
    // The group that was open is closed, and the new one is open.
    expect(counts.groups - before).toBe(2)
    expect(counts.encoders).toBe(1)
  })

  it('gives what an encoder of its own would give, and leaves earlier parts alone', () => {
    const { adapter } = countingWire()
    const partOf = growingPart(adapter, {})
    const items: HistoryItem[] = []
    const parts = calls(0, 5).map((item) => {
      items.push(item)
      return partOf(items)
    })
    expect(parts.map(({ texts }) => texts.length)).toEqual([1, 2, 3, 4, 5])
    expect(parts.at(-1)).toEqual(growingPart(adapter, {})([...items]))
  })

  it.each([
    [
      'an item was replaced',
      (items: HistoryItem[]) => items.splice(1, 1, call('other', 'changed')),
    ],
    ['an item is gone', (items: HistoryItem[]) => items.splice(0, 1)],
    ['the end is gone', (items: HistoryItem[]) => items.pop()],
  ])('starts again when %s', (_, change) => {
    const { adapter, counts } = countingWire()
    const partOf = growingPart(adapter, {})
    const items: HistoryItem[] = calls(0, 3)
    partOf(items)
    change(items)
    expect(partOf(items)).toEqual(growingPart(adapter, {})([...items]))
    expect(counts.encoders).toBe(3)
  })

  it('keeps histories apart', () => {
    const { adapter } = countingWire()
    const partOf = growingPart(adapter, {})
    const [one, other] = [calls(0, 2), calls(5, 3)]
    partOf(one)
    expect(partOf(other).texts).toHaveLength(3)
    expect(partOf(one).texts).toHaveLength(2)
  })

  it('tells of a repair once, to whoever asks when it is made', () => {
    const { adapter } = countingWire()
    const partOf = growingPart(adapter, {})
    const items: HistoryItem[] = [call('lost')]
    const heard: [number, string][] = []
    const listen = (at: number) => (repair: Repair) => heard.push([at, repair.item])
    partOf(items, listen(1))
    items.push(call('c1', 'ok'))
    partOf(items, listen(2))
    items.push(call('gone'))
    partOf(items, listen(3))
    expect(heard).toEqual([
      [1, 'lost'],
      [3, 'gone'],
    ])
  })

  it('starts again after an encoder that failed', () => {
    const { adapter } = countingWire()
    const partOf = growingPart(adapter, {})
    const items: HistoryItem[] = [call('c1', 'ok'), { type: 'raw', api: 'x', value: {} }]
    expect(() => partOf(items)).toThrow('no form')
    items.pop()
    expect(partOf(items).texts).toHaveLength(1)
  })
})
