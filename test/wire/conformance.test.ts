import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../../src/core/error/error.ts'
import type { Finish, ModelEvent } from '../../src/model/events/model-event.ts'
import type { ProviderDefinition } from '../../src/model/provider-definition.ts'
import { ResponseGuard } from '../../src/model/response-guard.ts'
import { ResponseReading } from '../../src/model/response-reading.ts'
import { syntheticIds } from '../../src/model/wire/synthetic-id.ts'
import { FOUNDRY_READERS } from '../../src/providers/foundry/items.ts'
import { PART_KINDS } from '../../src/providers/gemini/wire/wire.ts'
import { ITEM_READERS } from '../../src/providers/openai/responses/decode/decode-item.ts'
import { type Decoded, wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { STEP } from '../runs.ts'
import { loadFixtures, type WireFixture } from './fixture.ts'
import { samplesOf } from './provider-samples.ts'

const secret = new Uint8Array(32).fill(7)
const mint = syntheticIds({ secret })
const fixtures = loadFixtures()
const streams = fixtures.filter(([, { kind }]) => kind === 'stream')
const echoes = fixtures.filter(([, { echo }]) => echo !== undefined)

function decode({ api, kind, payload, events }: WireFixture, key = secret): Decoded {
  const codec = wire(api, { secret: key })
  return kind === 'stream' ? codec.decodeStream(events ?? []) : codec.decode(payload)
}

const definitionOf = (name: string): ProviderDefinition | undefined =>
  providers.find(({ api }) => api === name)

/** True for a stream of lines of text. */
const isText = ([, { api }]: readonly [string, WireFixture]) =>
  definitionOf(api)?.framing !== 'eventstream'

/** The bytes of a stream as its server would send them. */
function bytesOf({ api, events = [] }: WireFixture): Uint8Array {
  const { framing, loopback } = definitionOf(api) ?? {}
  if (framing === 'eventstream') {
    return Buffer.concat(events.map((event) => Buffer.from(loopback?.frame(event) ?? '')))
  }
  const frame = (event: unknown) => {
    const { type } = event as { type?: unknown }
    const name = typeof type === 'string' ? `event: ${type}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  }
  return new TextEncoder().encode(events.map(frame).join(''))
}

async function* chunks(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** The finish that the bytes give, or the code of the error. */
async function read(fixture: WireFixture, ...pieces: readonly Uint8Array[]) {
  const adapter = definitionOf(fixture.api)
  if (adapter === undefined) throw new Error(`no adapter speaks ${fixture.api}`)
  let finish: Finish | undefined
  try {
    const reading = new ResponseReading(adapter, { mint }, new ResponseGuard(fixture.api))
    const note = (event: ModelEvent) => {
      if (event.type === 'finish') finish = event
    }
    for await (const batch of reading.take({ bytes: chunks(...pieces) })) batch.forEach(note)
    reading.end().forEach(note)
    return { finish }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    return { finish, code: error.code }
  }
}

const runnerCalls = (finish: Finish | undefined) =>
  (finish?.items ?? []).filter((item) => item.type === 'call' && item.executedBy === 'runner')

describe('the list of wire types', () => {
  const known: Readonly<Record<string, readonly string[]>> = {
    'openai-responses': Object.keys(ITEM_READERS),
    foundry: Object.keys(FOUNDRY_READERS),
    gemini: PART_KINDS,
  }

  it.each(Object.entries(known))('has all that %s reads', (api, types) => {
    const content = ['message', 'text', 'inlineData', 'fileData', 'structured_outputs']
    const others = [...content, 'reasoning']
    const calls = types.filter((type) => !others.includes(type))
    expect(calls.toSorted()).toEqual(samplesOf(api).types.toSorted())
  })
})

describe.each(providers.map(({ api }) => api))('the fixtures of %s', (api) => {
  const own = fixtures.filter(([, fixture]) => fixture.api === api).map(([, fixture]) => fixture)

  it('cover every wire type', () => {
    const covered = new Set(own.flatMap(({ covers }) => covers))
    expect(samplesOf(api).types.filter((type) => !covered.has(type))).toEqual([])
  })

  it.each(samplesOf(api).types.filter((type) => type !== 'chunk'))('hold a call of %s', (type) => {
    const calls = own
      .filter(({ covers }) => covers.includes(type))
      .flatMap((fixture) => decode(fixture).calls)
    const isOutput = /(_output|_result|_response|Response|Result|^tool)$/.test(type)
    // The output of a call stands on the call, when that is there too; an answer stands on its gate.
    const isSeen = (call: Decoded['calls'][number]) =>
      call.wire.type === type ||
      (isOutput && (call.type === 'call' ? call.result : call.gate?.decision) !== undefined)
    expect(calls.some(isSeen)).toBe(true)
  })

  it('hold a type wherever they say that they cover it', () => {
    for (const { covers, payload, events } of own) {
      const text = JSON.stringify(payload ?? events)
      const named = covers.filter((type) => samplesOf(api).types.includes(type) && type !== 'chunk')
      expect(named.filter((type) => !text.includes(`"${type}"`))).toEqual([])
    }
  })

  it('hold a stream', () => {
    expect(own.map(({ kind }) => kind)).toContain('stream')
  })
})

describe('decode', () => {
  it.each(fixtures)('reads %s', (_, fixture) => {
    const { items, calls } = decode(fixture)
    if (fixture.items !== undefined) expect(items.map(({ type }) => type)).toEqual(fixture.items)
    if (fixture.calls !== undefined) expect(calls).toMatchObject(fixture.calls)
    for (const { id, wire: reference } of calls) {
      expect(id).not.toBe('')
      expect(reference.api).toBe(fixture.api)
    }
  })

  it.each(fixtures)(
    'gives the same ids for %s again, and others under another secret',
    (_, fixture) => {
      const again = decode(fixture)
      expect(again).toEqual(decode(fixture))
      const { calls: others } = decode(fixture, new Uint8Array(32).fill(8))
      for (const [at, { id, wire: reference }] of again.calls.entries()) {
        const isMinted = reference.origin === 'synthetic'
        if (isMinted) expect(id).toMatch(/^bob_[\w-]{22}$/)
        expect(others[at]?.id === id).toBe(!isMinted)
      }
    },
  )
})

describe('encode', () => {
  it.each(echoes)('gives %s back as it came', (_, fixture) => {
    const part = wire(fixture.api, { secret }).encode(decode(fixture).items)
    expect(Object.values(part).find(Array.isArray)).toEqual(fixture.echo)
  })

  it.each(fixtures)('gives for %s what every provider takes', (_, fixture) => {
    const { items } = decode(fixture)
    for (const { api } of providers) {
      const codec = wire(api, { secret })
      expect(codec.validate(codec.encode(items))).toEqual([])
    }
  })
})

describe('validate', () => {
  const accepted = fixtures.filter(([, fixture]) => fixture.accepted)
  it.each(accepted)('has nothing against %s, which its provider took', (_, { api, payload }) => {
    expect(wire(api).validate(payload)).toEqual([])
  })

  const refused = fixtures.filter(([, fixture]) => fixture.refused !== undefined)
  it.each(refused)('names the rule that %s breaks', (_, { api, payload, refused: rule }) => {
    const rules = wire(api)
      .validate(payload)
      .map((violation) => violation.rule)
    expect([...new Set(rules)]).toEqual([rule])
  })
})

describe('a stream', () => {
  it.each(streams)('%s gives the same from bytes as from events', async (_, fixture) => {
    const { finish } = await read(fixture, bytesOf(fixture))
    expect(finish?.items).toEqual(decode(fixture).items)
  })

  it.each(streams)('%s cut at every byte gives no call of the runner’s', async (_, fixture) => {
    const bytes = bytesOf(fixture)
    const { finish: whole } = await read(fixture, bytes)
    for (let end = 0; end < bytes.length; end += STEP) {
      const { finish, code } = await read(fixture, bytes.subarray(0, end))
      if (finish === undefined) expect(code).toBe('E_STREAM_BROKEN')
      else expect(finish.items).toEqual(whole?.items)
    }
    expect(runnerCalls((await read(fixture, bytes.subarray(0, bytes.length / 2))).finish)).toEqual(
      [],
    )
  })

  it.each(streams)('%s re-chunked at every byte gives the same', async (_, fixture) => {
    const bytes = bytesOf(fixture)
    const whole = await read(fixture, bytes)
    for (let at = 1; at < bytes.length; at += STEP) {
      expect(await read(fixture, bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole)
    }
    const single = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1))
    expect(await read(fixture, ...single)).toEqual(whole)
  })

  it.each(streams.filter(isText))(
    '%s with CRLF and comments gives the same',
    async (_, fixture) => {
      const text = new TextDecoder().decode(bytesOf(fixture))
      const noisy = `: hello\r\n\r\n${text.replaceAll('\n', '\r\n')}`
      const whole = await read(fixture, bytesOf(fixture))
      expect(await read(fixture, new TextEncoder().encode(noisy))).toEqual(whole)
    },
  )

  it.each(streams)('%s with bytes that are not UTF-8 is refused', async (_, fixture) => {
    const bytes = bytesOf(fixture).slice()
    bytes[Math.floor(bytes.length / 3)] = 0xff
    const { finish, code } = await read(fixture, bytes)
    expect(finish).toBeUndefined()
    expect(code).toBe('E_STREAM_BROKEN')
  })
})
