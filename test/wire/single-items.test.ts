import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { OUTPUT_ONLY } from '../../src/providers/foundry/items.ts'
import { type Decoded, type WireApi, wire } from '../../src/wire/index.ts'
import { loadFixtures, type WireFixture } from './fixture.ts'
import { APIS, samplesOf } from './provider-samples.ts'

const secret = new Uint8Array(32).fill(7)
const fixtures = loadFixtures().map(([, fixture]) => fixture)

/** Every object in a value, outermost first. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value
  for (const member of Object.values(value)) yield* objectsIn(member)
}

/** True for an item of this type, as it stands in a history. */
function isOf(api: WireApi, type: string, item: object): boolean {
  if (api === 'gemini' || api === 'bedrock-converse') return Object.hasOwn(item, type)
  const { type: named, role } = item as { type?: unknown; role?: unknown }
  if (api === 'openai-chat' && type === 'tool') return role === 'tool'
  // A definition of a tool has the same type as a call of it, and no id.
  return named === type && (api !== 'openai-chat' || Object.hasOwn(item, 'id'))
}

// Odd forms that only servers send. Their fixtures say how they are read.
const ODD =
  /"(id|tool_call_id)":(""|null)|"memories":|"(custom|function)":\{"name":""|"functionCall":\{"name":"\w+"\}/

/** The items of the fixtures, each alone, with their types. A chunk of a call is not an item. */
const singles = APIS.flatMap((api) =>
  samplesOf(api)
    .types.filter((type) => type !== 'chunk')
    .map((type) => {
      // What the provider refuses goes out changed.
      const own = fixtures.filter(
        (fixture) => fixture.api === api && fixture.kind !== 'stream' && !fixture.refused,
      )
      const all = own.flatMap(({ payload }) => [...objectsIn(payload)])
      const items = all.filter((item) => isOf(api, type, item) && !ODD.test(JSON.stringify(item)))
      return { api, type, items }
    }),
)

// Members that only the response form has, or that address a stored item.
const RESPONSE_ONLY = new Set([
  'id',
  'index',
  'status',
  'created_by',
  'response_id',
  'agent_reference',
])

/** True when some object in `value` has all members of `wanted` that a client may send. */
function holds(value: unknown, wanted: object): boolean {
  const isIt = (found: object) =>
    Object.entries(wanted).every(
      ([key, member]) =>
        RESPONSE_ONLY.has(key) ||
        isDeepStrictEqual(Reflect.get(found, key), member) ||
        // A missing id of ours may be sent where the wire takes free ids.
        (member === null && key.endsWith('id')),
    )
  return [...objectsIn(value)].some(isIt)
}

/** What goes out for one item that the provider's stored conversation continues, if it must. */
function sentFor(api: WireApi, item: object) {
  const codec = wire(api, { secret })
  const { items, calls } = codec.decode(item)
  // A provider's result without its call, or a call without the code that made it, can only be meant
  // for a conversation that the provider holds.
  const isApart = calls.some((call) => call.type === 'call' && call.resultOnly === true)
  const continues = isApart || JSON.stringify(item).includes('"type":"code_execution')
  return { calls, continues, part: codec.encode(items, { continues }) }
}

describe.each(singles)('an item of $api: $type', ({ api, type, items }) => {
  const isSent = !(api === 'foundry' && OUTPUT_ONLY.has(type))

  it('is in the fixtures', () => {
    expect(items.length).toBeGreaterThan(0)
  })

  it('is decoded as what it is', () => {
    for (const item of items) {
      expect(wire(api, { secret }).decode(item).calls).toMatchObject([
        { id: expect.stringMatching(/./), tool: expect.stringMatching(/./), wire: { api } },
      ])
    }
  })

  it(isSent ? 'goes back as it came' : 'is sent in another form', () => {
    for (const item of items) {
      const { calls, continues, part } = sentFor(api, item)
      if (isSent) expect(holds(part, item)).toBe(true)
      else expect(JSON.stringify(part)).toContain(calls[0]?.tool)
      if (!continues) expect(wire(api).validate(part)).toEqual([])
    }
  })
})

describe('a history of the fixtures', () => {
  const decode = ({ api, kind, payload, events = [] }: WireFixture): Decoded => {
    const codec = wire(api, { secret })
    return kind === 'stream' ? codec.decodeStream(events) : codec.decode(payload)
  }

  it.each(loadFixtures())(
    '%s sends no item twice and no id that the wire must have issued',
    (_, fixture) => {
      const { api, payload, events } = fixture
      const part = JSON.stringify(wire(api, { secret }).encode(decode(fixture).items))
      const known = JSON.stringify(payload ?? events)
      const takesFreeIds = api === 'anthropic-messages' || api === 'openai-chat'
      for (const [, id = ''] of part.matchAll(/"id":("[^"]+")/g)) {
        expect(takesFreeIds || known.includes(id)).toBe(true)
        // Once on a call and once on its response, or on what both hold.
        expect(part.split(`"id":${id}`).length - 1).toBeLessThanOrEqual(2)
      }
    },
  )
})
