import { describe, expect, it } from 'vitest'
import { type HistoryItem, type WireApi, wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { opaqueValues, steps } from './native-history.ts'
import { samplesOf } from './provider-samples.ts'

const secret = new Uint8Array(32).fill(9)
const codecOf = (api: WireApi) => wire(api, { secret })
const pairs = providers.flatMap(({ api: origin }) =>
  providers.map(({ api: target }) => [origin, target] as const),
)

/** The list in a request part, whatever it is called. */
function listOf(part: object): readonly unknown[] {
  return Object.values(part).find((value): value is unknown[] => Array.isArray(value)) ?? []
}

const question: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'And now?' }],
}

/** What each call asked and got, without the ids that differ from wire to wire. */
function exchanges(items: readonly HistoryItem[]) {
  return items.flatMap((item) => {
    if (item.type !== 'call') return []
    const { tool, args, result } = item
    return [{ tool, args, isError: result?.isError, parts: result?.parts.map(textOf) }]
  })
}

const textOf = (part: { readonly type: string; readonly text?: string }) => part.text

describe('a conversation of 30 calls', () => {
  it.each(pairs)('begun on %s continues on %s and comes back unchanged', (origin, target) => {
    const home = codecOf(origin)
    const away = codecOf(target)
    const native = samplesOf(origin).history(steps('home'))
    const begun = home.decode(native).items
    expect(exchanges(begun)).toHaveLength(30)

    const there = away.encode([...begun, question])
    expect(away.validate(there)).toEqual([])
    expect(exchanges(away.decode(there).items)).toEqual(exchanges(begun))

    const added = away.decode(samplesOf(target).history(steps('away', 3))).items
    const back = home.encode([...begun, ...added, question])
    expect(home.validate(back)).toEqual([])
    const sent = listOf(back)
    expect(opaqueValues(sent.slice(0, native.length))).toEqual(opaqueValues(native))
    // A wire may put the next input into the same message as the last results.
    expect(sent.slice(0, native.length - 1)).toEqual(native.slice(0, -1))
    expect(exchanges(home.decode(back).items)).toEqual(exchanges([...begun, ...added]))
  })

  it.each(pairs)('of %s keeps its reasoning from %s, unless that is its own', (origin, target) => {
    const { items } = codecOf(origin).decode(samplesOf(origin).history(steps('home')))
    const part = JSON.stringify(codecOf(target).encode([...items, question]))
    const signatures = part.match(/sig-home-\d+==/g) ?? []
    const own =
      JSON.stringify(samplesOf(origin).history(steps('home'))).match(/sig-home-\d+==/g) ?? []
    expect(signatures).toEqual(origin === target ? own : [])
  })

  it.each(pairs)('of %s under ids that repeat is still valid on %s', (origin, target) => {
    const repeating = steps('x').map((step) => ({
      ...step,
      calls: step.calls.map((call, index) => ({ ...call, id: `call_${index}` })),
    }))
    const { items, calls } = codecOf(origin).decode(samplesOf(origin).history(repeating))
    expect(new Set(calls.map(({ id }) => id)).size).toBe(30)
    expect(exchanges(items).map(({ parts }) => parts?.[0])).toEqual(
      repeating.flatMap((step) => step.calls.map(({ result }) => result)),
    )
    const away = codecOf(target)
    const part = away.encode([...items, question])
    expect(away.validate(part)).toEqual([])
    expect(exchanges(away.decode(part).items)).toEqual(exchanges(items))
  })

  it.each(pairs)('of %s under ids of 200 odd characters is valid on %s', (origin, target) => {
    const odd = steps('x').map((step) => ({
      ...step,
      calls: step.calls.map((call) => ({ ...call, id: `${'Ünïcode.id/'.repeat(20)}${call.id}` })),
    }))
    const { items } = codecOf(origin).decode(samplesOf(origin).history(odd))
    const away = codecOf(target)
    const part = away.encode([...items.map(asForeign), question])
    expect(away.validate(part)).toEqual([])
    expect(exchanges(away.decode(part).items)).toEqual(exchanges(items))
  })
})

/** As if a provider without any rules for ids had made it. */
function asForeign(item: HistoryItem): HistoryItem {
  if (item.type !== 'call') return item
  const { providerData: _, ...call } = item
  return { ...call, wire: { ...call.wire, api: 'elsewhere' } }
}
