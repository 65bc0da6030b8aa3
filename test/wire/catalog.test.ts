import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { adapters } from '../../src/wire/adapters.ts'
import { type Decoded, type WireApi, wire } from '../../src/wire/index.ts'

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

describe('the catalogue', () => {
  it('is replayed where it is there', () => {
    expect(examples.length > 100 || !existsSync(folder) || adapters.length < 5).toBe(true)
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
})
