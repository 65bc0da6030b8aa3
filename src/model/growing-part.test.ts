import { describe, expect, it } from 'vitest'
import { growingHistory, replaceItem } from '../records/growing-history.ts'
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
/** Takes a part and gives it back at once, as a request that was sent. */
function taker(adapter: WireAdapter<TextPart>) {
  const lend = growingPart(adapter, {})
  return (...request: Parameters<typeof lend>) => {
    const { part, release } = lend(...request)
    release()
    return part
  }
}
/** Notes which items are looked at. */
function watched(history: HistoryItem[]) {
  const reads = new Set<number>()
  const items = new Proxy(history, {
    get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads.add(Number(name))
      return Reflect.get(target, name)
    },
  })
  return { items: growingHistory(items), reads }
}

const calls = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => call(`c${from + at}`, 'ok'))

describe('growingPart', () => {
  it('encodes what is new, however long the history is', () => {
    const { adapter, counts } = countingWire()
    const partOf = taker(adapter)
    const items: HistoryItem[] = calls(0, 1000)
    partOf(items)
    const before = counts.groups
    items.push(call('new', 'ok'))
    expect(partOf(items).texts).toHaveLength(1001)
    // The group that was open stands already.
    expect(counts.groups - before).toBe(1)
    expect(counts.encoders).toBe(1)
  })

  it('gives what an encoder of its own would give, and the same list each time', () => {
    const { adapter } = countingWire()
    const partOf = taker(adapter)
    const items: HistoryItem[] = []
    const lists = calls(0, 5).map((item, at) => {
      items.push(item)
      const { texts } = partOf(items)
      expect(texts).toHaveLength(at + 1)
      return texts
    })
    expect(new Set(lists).size).toBe(1)
    expect(lists[0]).toEqual(taker(adapter)([...items]).texts)
  })

  it('reads of a history that only grows what is new, and nothing twice', () => {
    const { adapter } = countingWire()
    const partOf = taker(adapter)
    const { items, reads } = watched(growingHistory(calls(0, 1000)))
    partOf(items)
    items.push(call('new', 'ok'))
    reads.clear()
    expect(partOf(items).texts).toHaveLength(1001)
    // The last one that it knows, and the new one.
    expect([...reads]).toEqual([999, 1000])
  })

  it('starts again when an item of such a history was replaced', () => {
    const { adapter, counts } = countingWire()
    const partOf = taker(adapter)
    const items = growingHistory(calls(0, 3))
    partOf(items)
    replaceItem(items, 1, call('c1', 'changed'))
    expect(partOf(items).texts[1]).toContain('changed')
    expect(counts.encoders).toBe(2)
  })

  it('starts again when such a history was changed behind its back at the end', () => {
    const { adapter } = countingWire()
    const partOf = taker(adapter)
    const items = growingHistory(calls(0, 3))
    partOf(items)
    items[2] = call('c2', 'changed')
    expect(partOf(items).texts[2]).toContain('changed')
    items.length = 1
    expect(partOf(items).texts).toHaveLength(1)
  })

  it('leaves a part alone that another request still reads', () => {
    const { adapter } = countingWire()
    const lend = growingPart(adapter, {})
    const items: HistoryItem[] = calls(0, 2)
    const first = lend(items)
    items.push(call('new', 'ok'))
    const second = lend(items)
    expect(first.part.texts).toHaveLength(2)
    expect(second.part.texts).toHaveLength(3)
    first.release()
    second.release()
    items.push(call('newer', 'ok'))
    expect(lend(items).part.texts).toHaveLength(4)
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
    const partOf = taker(adapter)
    const items: HistoryItem[] = calls(0, 3)
    partOf(items)
    change(items)
    expect(partOf(items)).toEqual(taker(adapter)([...items]))
    expect(counts.encoders).toBe(3)
  })

  it('keeps histories apart', () => {
    const { adapter } = countingWire()
    const partOf = taker(adapter)
    const [one, other] = [calls(0, 2), calls(5, 3)]
    partOf(one)
    expect(partOf(other).texts).toHaveLength(3)
    expect(partOf(one).texts).toHaveLength(2)
  })

  it('tells of a repair once, to whoever asks when it is made', () => {
    const { adapter } = countingWire()
    const partOf = taker(adapter)
    const items: HistoryItem[] = [call('lost')]
    const heard: [number, string][] = []
    const listen = (at: number) => (repair: Repair) => heard.push([at, repair.item])
    partOf(items, { onRepair: listen(1) })
    items.push(call('c1', 'ok'))
    partOf(items, { onRepair: listen(2) })
    items.push(call('gone'))
    partOf(items, { onRepair: listen(3) })
    expect(heard).toEqual([
      [1, 'lost'],
      [3, 'gone'],
    ])
  })

  it('starts again after an encoder that failed', () => {
    const { adapter } = countingWire()
    const partOf = taker(adapter)
    const items: HistoryItem[] = [call('c1', 'ok'), { type: 'raw', api: 'x', value: {} }]
    expect(() => partOf(items)).toThrow('no form')
    items.pop()
    expect(partOf(items).texts).toHaveLength(1)
  })
})
