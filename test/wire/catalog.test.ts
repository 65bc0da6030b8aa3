import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { adapters } from '../../src/wire/adapters.ts'
import { type Decoded, type WireApi, wire } from '../../src/wire/index.ts'
import { WIRE_TYPES } from './wire-types.ts'

const folder = fileURLToPath(new URL('../../../shared/wire/', import.meta.url))

const APIS: Readonly<Record<string, WireApi>> = {
  'openai-responses': 'openai-responses',
  'openai-chat': 'openai-chat',
  'anthropic-messages': 'anthropic-messages',
  'gemini-generateContent': 'gemini',
  'azure-foundry-agents': 'foundry',
}

interface Example {
  readonly meta: { readonly api: string; readonly kind: string; readonly wireTypes: string[] }
  readonly payload: unknown
}

/** The examples of the catalogue, where the folder lies beside the repository. */
function loadExamples(): readonly (readonly [string, WireApi, Example])[] {
  if (!existsSync(folder)) return []
  return readdirSync(`${folder}examples`)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const example = JSON.parse(readFileSync(`${folder}examples/${name}`, 'utf8')) as Example
      const api = APIS[example.meta.api]
      const isSpoken = adapters.some((adapter) => adapter.api === api)
      return api === undefined || !isSpoken ? [] : [[name, api, example] as const]
    })
}

/** Foundry speaks everything that Responses has, and more. */
const WIRE_TYPES_OF = (api: WireApi): readonly string[] =>
  api === 'foundry' ? [...WIRE_TYPES['openai-responses'], ...WIRE_TYPES.foundry] : WIRE_TYPES[api]

const secret = new Uint8Array(32).fill(7)
const isStream = (kind: string) => kind === 'sse' || kind === 'sse-event'

function eventsOf({ payload }: Example): readonly unknown[] {
  return (payload as { events?: unknown[] }).events ?? [payload]
}

function decode(api: WireApi, example: Example): Decoded {
  const codec = wire(api, { secret })
  return isStream(example.meta.kind)
    ? codec.decodeStream(eventsOf(example))
    : codec.decode(example.payload)
}

const examples = loadExamples()

interface Row {
  readonly rowId: string
  readonly api: string
  readonly direction: string
  readonly discriminatorField: string
  readonly discriminatorValue: string | null
  readonly examples: readonly string[]
}

/** The rows of the protocols that are spoken here, with their examples. */
function loadRows(): readonly (readonly [string, WireApi, Row])[] {
  if (!existsSync(folder)) return []
  const rows = JSON.parse(readFileSync(`${folder}catalog.json`, 'utf8')) as Row[]
  return rows.flatMap((row) => {
    // Some say in brackets which half of a protocol they belong to.
    const api = APIS[row.api.replace(/ \(.*\)$/, '')]
    return api === undefined ? [] : [[row.rowId, api, row] as const]
  })
}

/** What the row's type is called here. A chunk of a call is known by its index alone. */
function typeOf({ discriminatorField, discriminatorValue }: Row): string {
  if (discriminatorField === 'index') return 'chunk'
  return discriminatorValue ?? discriminatorField
}

/** The examples of single items, with their rows: those that a client may send, or those it may not. */
function singles(areSent: boolean): readonly (readonly [string, string, WireApi, Example])[] {
  return loadRows()
    .filter(([, api, { direction }]) => areSent !== (api === 'foundry' && direction === 'response'))
    .flatMap(([rowId, , { examples: names }]) =>
      examples
        .filter(([name, , { meta, payload }]) => {
          const isSingle =
            !Array.isArray(payload) && meta.kind !== 'response' && meta.kind !== 'sse'
          return names.includes(`examples/${name}`) && isSingle
        })
        .map(([name, api, example]) => [rowId, name, api, example] as const),
    )
}

// Members that only the response form has, or that address a stored item.
const RESPONSE_ONLY = new Set(['id', 'status', 'created_by', 'response_id', 'agent_reference'])

/** True when some object in `value` has all members of `wanted` that a client may send. */
function holds(value: unknown, wanted: object): boolean {
  if (typeof value !== 'object' || value === null) return false
  const isIt = Object.entries(wanted).every(
    ([key, member]) =>
      RESPONSE_ONLY.has(key) ||
      isDeepStrictEqual(Reflect.get(value, key), member) ||
      // A missing id of ours may be sent where the wire takes free ids.
      (member === null && key.endsWith('id')),
  )
  return isIt || Object.values(value).some((inner) => holds(inner, wanted))
}

/** How often a value stands somewhere in another. */
function count(value: unknown, wanted: string): number {
  return JSON.stringify(value).split(JSON.stringify(wanted)).length - 1
}

describe('the catalogue', () => {
  it('is replayed where it is there', () => {
    expect(examples.length > 100 || !existsSync(folder) || adapters.length < 5).toBe(true)
  })

  it('is replayed as a whole but for the protocol that is out of scope', () => {
    if (!existsSync(folder)) return
    const names = readdirSync(`${folder}examples`).filter((name) => name.endsWith('.json'))
    const left = names.filter((name) => !examples.some(([replayed]) => replayed === name))
    const apis = left.map((name) => {
      const { meta } = JSON.parse(readFileSync(`${folder}examples/${name}`, 'utf8')) as Example
      return meta.api
    })
    expect(apis.filter((api) => api !== 'gemini-interactions')).toEqual([])
    expect(loadRows()).toHaveLength(83)
  })

  it.each(loadRows())('%s is decoded as what it is, and has a fixture of ours', (_, api, row) => {
    const type = typeOf(row)
    expect(WIRE_TYPES_OF(api)).toContain(type)
    const own = examples.filter(([name]) => row.examples.includes(`examples/${name}`))
    const seen = own.some(([, , example]) => {
      const isInIt = JSON.stringify(example.payload).includes(`"${type}"`)
      const { calls } = decode(api, example)
      // The output of a call stands on the call, when that is there too.
      return calls.some(
        (call) =>
          call.wire.type === (type === 'chunk' ? 'function' : type) ||
          (isInIt && call.type === 'call' && call.result !== undefined),
      )
    })
    expect(seen).toBe(true)
  })

  it.each(examples)('%s gives calls with id, tool, args and wire', (_, api, example) => {
    const { calls } = decode(api, example)
    // A type in brackets says that the example holds no tool call at all.
    const holdsCalls = example.meta.wireTypes.some((type) => !type.startsWith('('))
    expect(calls.length > 0).toBe(holdsCalls)
    for (const call of calls) {
      expect(call.id).toMatch(/./)
      expect(call.tool).toMatch(/./)
      expect(call.args).toBeTypeOf('object')
      expect(call.wire).toMatchObject({ api, origin: expect.any(String) })
    }
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
  })

  it.each(examples)('%s gives the same ids when decoded again', (_, api, example) => {
    const ids = (decoded: Decoded) => decoded.calls.map(({ id }) => id)
    expect(ids(decode(api, example))).toEqual(ids(decode(api, example)))
  })

  it.each(examples)('%s encodes to something that its provider takes', (_, api, example) => {
    const codec = wire(api, { secret })
    const part = codec.encode(decode(api, example).items)
    expect(codec.validate(part)).toEqual([])
  })

  it.each(singles(true))('%s goes back as it came (%s)', (_row, _name, api, example) => {
    const { items, calls } = decode(api, example)
    // A provider's result without its call, or a call without the code that made it, can only be meant
    // for a conversation that the provider holds.
    const isApart = calls.some((call) => call.type === 'call' && call.resultOnly === true)
    const continues = isApart || JSON.stringify(example.payload).includes('"type":"code_execution')
    const part = wire(api, { secret }).encode(items, { continues })
    const isServerResult = continues && calls.every((call) => call.executedBy === 'provider')
    // This one stores no conversations, so there it can only be told.
    if (api === 'gemini' && isServerResult) expect(JSON.stringify(part)).toContain(calls[0]?.tool)
    else expect(holds(part, example.payload as object)).toBe(true)
  })

  it.each(singles(false))('%s is told in another form (%s)', (_row, _name, api, example) => {
    const { items, calls } = decode(api, example)
    const codec = wire(api, { secret })
    const part = codec.encode(items, { continues: true })
    expect(codec.validate(part)).toEqual([])
    for (const { tool } of calls) expect(JSON.stringify(part)).toContain(tool)
  })

  it.each(examples)(
    '%s sends no item twice and no id that the wire must have issued',
    (_, api, example) => {
      const part = wire(api, { secret }).encode(decode(api, example).items)
      const ids = JSON.stringify(part).match(/"id":"[^"]+"/g) ?? []
      const known = JSON.stringify(example.payload)
      const takesFreeIds = api === 'anthropic-messages' || api === 'openai-chat'
      for (const id of ids)
        expect(takesFreeIds || known.includes(JSON.parse(id.slice(5)))).toBe(true)
      for (const id of ids) expect(count(part, JSON.parse(id.slice(5)))).toBeLessThanOrEqual(2)
    },
  )
})
