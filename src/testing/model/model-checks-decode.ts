import assert from 'node:assert/strict'
import { isBobbinError } from '../../core/error/error.ts'
import type { ProviderDefinition, WireFixture } from '../../model/provider-definition.ts'
import { answered, codecOf, decoded, type ModelCheck, sampled } from './model-check.ts'
import { JUNK } from './model-samples.ts'

/** What must hold when payloads are read. */
export const modelDecodeChecks: readonly ModelCheck[] = [
  {
    name: 'has fixtures: a stream with a call, a response, and a history with its echo',
    run: ({ definition, fixtures }) => {
      const streams = fixtures.filter(({ kind }) => kind === 'stream')
      const called = streams.filter((fixture) => decoded(definition, fixture).calls.length > 0)
      assert.ok(called.length > 0, 'no fixture is a stream with a call')
      assert.ok(
        fixtures.some(({ kind }) => kind === 'response'),
        'no fixture is a response',
      )
      assert.ok(
        fixtures.some(({ kind, echo }) => kind === 'history' && echo !== undefined),
        'no fixture is a history with `echo`',
      )
    },
  },
  {
    name: 'reads a whole response from its bytes, to its end',
    run: async ({ definition, fixtures }) => {
      const responses = fixtures.filter(({ kind }) => kind === 'response')
      const finished = responses.filter((fixture) => decoded(definition, fixture).finish)
      assert.ok(finished.length > 0 || responses.length === 0, 'no response has a `finish`')
      for (const fixture of finished) {
        const bytes = new TextEncoder().encode(JSON.stringify(fixture.payload))
        const { finish, error } = await answered(definition, [bytes], { isStream: false })
        assert.equal(error, undefined, `${fixture.title}: ${String(error)}`)
        const types = finish?.items.map(({ type }) => type)
        const expected = decoded(definition, fixture).finish?.items.map(({ type }) => type)
        assert.deepEqual(types, expected, fixture.title)
      }
    },
  },
  {
    name: 'recognises its own requests and responses, and no other value',
    run: ({ definition, fixtures }) => {
      for (const { title, kind, payload } of fixtures) {
        if (kind !== 'response') continue
        assert.equal(definition.detect(payload), true, `does not recognise: ${title}`)
      }
      for (const junk of [undefined, ...JUNK]) {
        assert.equal(definition.detect(junk), false, `recognises ${JSON.stringify(junk)}`)
      }
    },
  },
  {
    name: 'reads every fixture as it says',
    run: ({ definition, fixtures }) => {
      for (const fixture of fixtures) {
        const { items, calls } = decoded(definition, fixture)
        if (fixture.items !== undefined) {
          const types = items.map(({ type }) => type)
          assert.deepEqual(types, fixture.items, fixture.title)
        }
        if (fixture.calls !== undefined) includes(calls, fixture.calls, fixture.title)
        for (const { id, wire } of calls) {
          assert.notEqual(id, '', `${fixture.title}: a call has no id`)
          assert.equal(wire.api, definition.api, `${fixture.title}: a call names another protocol`)
        }
      }
    },
  },
  {
    name: 'gives every call an id of its own, the same one when it is read again',
    run: ({ definition, fixtures }) => {
      for (const fixture of fixtures) {
        const { calls } = decoded(definition, fixture)
        assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, fixture.title)
        assert.deepEqual(decoded(definition, fixture).calls, calls, fixture.title)
        const others = decoded(definition, fixture, new Uint8Array(32).fill(8)).calls
        for (const [at, { id, wire }] of calls.entries()) {
          const isMinted = wire.origin === 'synthetic'
          assert.equal(others[at]?.id === id, !isMinted, `${fixture.title}: the id of call ${at}`)
        }
      }
    },
  },
  {
    name: 'answers damaged payloads with items or an error of ours',
    run: ({ definition, fixtures, cuts }) => {
      for (const fixture of fixtures) damage(definition, fixture, cuts * 5)
    },
  },
]

/** Replaces members of a fixture by junk, one at a time: all of a small one. */
function damage(definition: ProviderDefinition, fixture: WireFixture, most: number): void {
  const copy: unknown = structuredClone(
    fixture.kind === 'stream' ? fixture.events : fixture.payload,
  )
  const codec = codecOf(definition)
  for (const [holder, name] of sampled(placesIn(copy), most)) {
    const was: unknown = Reflect.get(holder, name)
    for (const junk of JUNK) {
      Reflect.set(holder, name, junk)
      const changed = {
        ...fixture,
        ...(fixture.kind === 'stream' ? { events: copy as unknown[] } : { payload: copy }),
      }
      try {
        codec.encode(decoded(definition, changed).items)
      } catch (error) {
        if (!isBobbinError(error)) {
          throw new Error(`${fixture.title}: with \`${name}\` as ${JSON.stringify(junk)}`, {
            cause: error,
          })
        }
      }
      assert.ok(Array.isArray(codec.validate(copy)), 'validate gives a list')
    }
    Reflect.set(holder, name, was)
  }
}

type Place = readonly [holder: object, name: string]

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]): Place[] => [
    [value, name],
    ...placesIn(member),
  ])
}

/** Whether a value holds all that is expected of it; lists as long as expected. */
function includes(value: unknown, expected: unknown, path: string): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(value, expected, path)
    return
  }
  assert.ok(typeof value === 'object' && value !== null, `${path} is missing`)
  if (Array.isArray(expected)) assert.equal((value as unknown[]).length, expected.length, path)
  for (const [name, member] of Object.entries(expected)) {
    includes(Reflect.get(value, name), member, `${path}.${name}`)
  }
}
