import { describe, expect, it } from 'vitest'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import { addCounts, countItem, countMedia, textCounter, toolsCounter } from './count-item.ts'

/** One token a character, so that what is counted can be seen. */
const perCharacter = async (text: string) => ({ tokens: text.length, isEstimate: false })
const tokensOf = async (item: HistoryItem) => (await countItem(item, perCharacter)).tokens

const call: CallItem = {
  type: 'call',
  id: 'id',
  tool: 'tool',
  args: { a: 1 },
  wire: { provider: 'p', api: 'a', type: 't', origin: 'natural' },
  executedBy: 'runner',
}

describe('countItem', () => {
  it('counts id, name, arguments, result and opaque state of a call', async () => {
    const bare = await tokensOf(call)
    expect(bare).toBe(4 + 'id'.length + 'tool'.length + '{"a":1}'.length)
    const result = { isError: false, parts: [{ type: 'text', text: 'x'.repeat(50) }] } as const
    expect(await tokensOf({ ...call, result })).toBe(bare + 50)
    const providerData = { api: 'a', data: 'y'.repeat(98) }
    expect(await tokensOf({ ...call, providerData })).toBe(bare + 100)
    expect(await tokensOf({ ...call, result: { ...result, providerData } })).toBe(bare + 150)
    expect(await tokensOf({ ...call, rawArgs: 'z'.repeat(17) })).toBe(bare + 10)
  })

  it('counts messages, thoughts, open calls and raw items', async () => {
    const parts = [{ type: 'text', text: '12345' }] as const
    expect(await tokensOf({ type: 'message', role: 'user', parts })).toBe(9)
    expect(await tokensOf({ type: 'thought', text: '123' })).toBe(7)
    const { executedBy: _, ...rest } = call
    expect(await tokensOf({ ...rest, type: 'openCall', executedBy: 'provider' })).toBe(17)
    expect(await tokensOf({ type: 'raw', api: 'a', value: { b: 2 } })).toBe(11)
  })

  it('counts the opaque state of every item and of its parts', async () => {
    const providerData = { api: 'a', data: 'y'.repeat(98) }
    const parts = [{ type: 'text', text: '12345', providerData }] as const
    expect(await tokensOf({ type: 'message', role: 'assistant', parts })).toBe(109)
    const said = { type: 'message', role: 'assistant', parts, providerData } as const
    expect(await tokensOf(said)).toBe(209)
    expect(await tokensOf({ type: 'thought', text: '', providerData })).toBe(104)
    const open = { ...call, type: 'openCall', executedBy: 'provider', providerData } as const
    expect(await tokensOf(open)).toBe(117)
    expect(await tokensOf({ ...call, result: { isError: false, parts } })).toBe(17 + 105)
  })

  it('counts media as estimates that grow with them', async () => {
    const media = (bytes: number) =>
      ({
        type: 'media',
        kind: 'audio',
        source: { type: 'base64', data: 'A'.repeat((bytes * 4) / 3) },
      }) as const
    const item = { type: 'message', role: 'user', parts: [media(3_000_000)] } as const
    expect(await countItem(item, perCharacter)).toEqual({ tokens: 6_004, isEstimate: true })
    expect(countMedia(media(300)).tokens).toBe(1)
    const image = { kind: 'image', source: { type: 'url', url: 'x' } } as const
    expect(countMedia(image)).toEqual({ tokens: 1_600, isEstimate: true })
    const sent = { type: 'base64', data: 'A'.repeat(4_000) } as const
    expect(countMedia({ ...image, source: sent }).tokens).toBe(1_600)
  })
})

describe('toolsCounter', () => {
  it('counts name, description and schema of each tool once', async () => {
    let texts = 0
    const count = toolsCounter((text) => {
      texts++
      return perCharacter(text)
    })
    const tool = { name: 'grep', description: 'Finds.', inputSchema: { type: 'object' } }
    expect(await count([tool])).toEqual({ tokens: 37, isEstimate: false })
    expect((await count([tool, { ...tool }])).tokens).toBe(74)
    expect(texts).toBe(2)
  })
})

describe('textCounter', () => {
  it('estimates without an encoding and counts exactly with one', async () => {
    expect(await textCounter()('hello world')).toEqual({ tokens: 3, isEstimate: true })
    expect(await textCounter('o200k_base')('hello world')).toEqual({ tokens: 2, isEstimate: false })
  })
})

describe('addCounts', () => {
  it('is an estimate as soon as one part is', () => {
    const one = { tokens: 1, isEstimate: false }
    expect(addCounts(one, one)).toEqual({ tokens: 2, isEstimate: false })
    expect(addCounts(one, { tokens: 2, isEstimate: true })).toEqual({ tokens: 3, isEstimate: true })
  })
})
