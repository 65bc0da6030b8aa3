import { describe, expect, it } from 'vitest'
import type { ProviderDefinition } from '../../src/provider/index.ts'
import { openaiChatProvider } from '../../src/providers/openai/chat/definition.ts'
import { modelConformance } from '../../src/testing/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { loadFixtures } from './fixture.ts'

const [other] = providers
const NAMES = /openai.chat.fixtures.(history-function-calls|response-parallel|stream-custom-tool)/
const few = loadFixtures().flatMap(([file, fixture]) => (NAMES.test(file) ? [fixture] : []))
const sound: ProviderDefinition = { ...openaiChatProvider, fixtures: few }

/** The checks that a definition fails. */
async function failed(changes: Partial<ProviderDefinition>): Promise<string[]> {
  const checks = modelConformance({ ...sound, ...changes }, { others: [other], cuts: 40 })
  const names: string[] = []
  for (const { name, run } of checks) await run().catch(() => names.push(name))
  return names
}

const { requestBody, encode, decode, decodeStream, loopback, fixtures = [] } = sound

/** A request without the results of its calls. */
function unanswered(part: object): object {
  const { messages } = part as { readonly messages: readonly { readonly role: string }[] }
  return { messages: messages.filter(({ role }) => role !== 'tool') }
}

const BROKEN: readonly (readonly [string, Partial<ProviderDefinition>])[] = [
  ['has fixtures', { fixtures: [] }],
  ['has fixtures', { fixtures: fixtures.filter(({ kind }) => kind !== 'response') }],
  ['has fixtures', { fixtures: fixtures.filter(({ kind }) => kind !== 'history') }],
  ['recognises its own', { detect: () => true }],
  ['to its end', { decode: (...given) => ({ items: decode(...given).items }) }],
  ['leaves it as it was', { encode: (...given) => ({ ...encode(...given), at: Math.random() }) }],
  ['breaks none of its own rules', { encode: (items) => unanswered(encode(items)) }],
  [
    'makes the same body',
    { requestBody: (input) => ({ ...requestBody(input), at: Math.random() }) },
  ],
  ['puts history, instructions', { requestBody: ({ part }) => part }],
  ['stream is cut', { decodeStream: (given) => ({ ...decodeStream(given), end: () => [] }) }],
  ['turns errors into ours', { errors: (error) => error as never }],
  [
    'an error of the provider at any place',
    { ...(loopback && { loopback: { ...loopback, errorEvent: () => ({}) } }) },
  ],
]

describe('modelConformance', () => {
  it('has nothing against a sound definition, in lines of JSON too', async () => {
    expect(await failed({})).toEqual([])
    const frame = (event: unknown) => `${JSON.stringify(event)}\n`
    const lines = {
      framing: 'json',
      ...(loopback && { loopback: { ...loopback, frame, trailer: '' } }),
    } as const
    expect(await failed(lines)).toEqual([])
  })

  it.each(BROKEN)('finds a definition that fails: %s', async (name, changes) => {
    const names = await failed(changes)
    expect(names.join('\n')).toContain(name)
  })
})
