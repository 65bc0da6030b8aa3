import assert from 'node:assert/strict'
import { isBobbinError } from '../../core/error/error.ts'
import type { ProviderDefinition } from '../../model/provider-definition.ts'
import {
  answered,
  codecOf,
  decoded,
  framesOf,
  listOf,
  type ModelCheck,
  QUESTION,
  streamsOf,
} from './model-check.ts'
import { foreignHistory, ID_KINDS } from './model-samples.ts'

const REQUEST = {
  instructions: 'Be brief.',
  items: [...foreignHistory(ID_KINDS['plain'] as (index: number) => string), QUESTION],
  tools: [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }],
}

/** What must hold of requests, of whole responses and of errors. */
export const modelRequestChecks: readonly ModelCheck[] = [
  {
    name: 'makes the same body from the same request, and changes nothing that it is given',
    run: ({ definition }) => {
      for (const stream of [true, false]) {
        const part = codecOf(definition).encode(REQUEST.items)
        const input = { model: 'm', part, request: REQUEST, stream }
        const before = JSON.stringify(input)
        const body = JSON.stringify(definition.requestBody(input))
        assert.equal(JSON.stringify(definition.requestBody(input)), body)
        assert.equal(JSON.stringify(input), before, 'what `requestBody` is given has changed')
      }
    },
  },
  {
    name: 'puts history, instructions and tools into the body, as plain JSON',
    run: ({ definition }) => {
      const part = codecOf(definition).encode(REQUEST.items)
      const body = definition.requestBody({ model: 'm', part, request: REQUEST, stream: true })
      const text = JSON.stringify(body)
      assert.deepEqual(JSON.parse(text), body, 'the body holds what JSON does not')
      for (const word of ['Be brief.', 'Searches.', 'And now?', 'result 14.2']) {
        assert.ok(text.includes(word), `the body lacks ${word}`)
      }
      assert.ok(listOf(definition, part).length > 0, 'the part holds no list')
    },
  },
  {
    name: 'reads a response that comes whole',
    run: async ({ definition, fixtures }) => {
      for (const fixture of fixtures) {
        if (fixture.kind !== 'response') continue
        const { finish } = decoded(definition, fixture)
        if (finish === undefined) continue
        const bytes = new TextEncoder().encode(JSON.stringify(fixture.payload))
        const outcome = await answered(definition, [bytes], { isStream: false })
        assert.equal(outcome.error, undefined, `${fixture.title}: ${String(outcome.error)}`)
        const types = outcome.finish?.items.map(({ type }) => type)
        assert.deepEqual(
          types,
          finish.items.map(({ type }) => type),
          fixture.title,
        )
      }
    },
  },
  {
    name: 'admits calls only when the response ended in a way that permits them',
    run: async (context) => {
      for (const fixture of streamsOf(context)) {
        const frames = framesOf(context.definition, fixture)
        const { finish } = await answered(context.definition, frames)
        if (finish === undefined || finish.reason === 'tools' || finish.reason === 'stop') continue
        const calls = finish.items.filter(
          (item) => item.type === 'call' && item.executedBy === 'runner',
        )
        assert.deepEqual(calls, [], `${fixture.title} ended with ${finish.reason}`)
      }
    },
  },
  {
    name: 'turns errors into ours, with the right code',
    run: async ({ definition }) => {
      for (const [status, code] of STATUSES) {
        const error = await failureOf(definition, status)
        assert.ok(isBobbinError(error), `${status}: ${String(error)}`)
        assert.equal(error.code, code, `status ${status}`)
      }
      const unreachable = definition.errors(new TypeError('fetch failed'))
      assert.ok(isBobbinError(unreachable, 'E_PROVIDER_UNREACHABLE'), String(unreachable))
      for (const junk of [undefined, null, 'x', 7, {}, { status: 'x' }]) {
        assert.ok(
          isBobbinError(definition.errors(junk)),
          `an error that is ${JSON.stringify(junk)}`,
        )
      }
    },
  },
]

const STATUSES = [
  [401, 'E_PROVIDER_AUTH'],
  [404, 'E_PROVIDER_NOT_FOUND'],
  [429, 'E_PROVIDER_RATE_LIMITED'],
  [500, 'E_PROVIDER_UNAVAILABLE'],
] as const

async function failureOf(definition: ProviderDefinition, status: number): Promise<unknown> {
  const body = definition.loopback?.errorBody(status, 'No.') ?? { message: 'No.' }
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  return (await answered(definition, [bytes], { status, isStream: false })).error
}
