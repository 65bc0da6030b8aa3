import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { loopbackProvider } from '../src/testing/index.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { requestOf, wire } from '../src/wire/index.ts'
import { begins } from './prefix/prompt.ts'
import { sampleTool } from './turn-samples.ts'
import type { ModelSettings } from './wire/model-sample.ts'
import { samplesOf } from './wire/provider-samples.ts'

type Json = Record<string, unknown>

const look = sampleTool('look', () => 'seen')

/** Plays three turns with a call each against a server that gives these members with every response. */
async function play(
  api: string,
  settings: ModelSettings & { readonly diagnoseCache?: boolean },
  members: object = {},
) {
  const { open, script } = samplesOf(api)
  const call = { id: 'call_1', tool: 'look', args: '{}' }
  const id = (body: object, at: number) => ({ ...body, id: `response_${at}`, ...members })
  const exchanges = [0, 1, 2].flatMap((turn) => [
    { body: id(script.unstreamed.call({ ...call, id: `call_${turn}` }), 2 * turn) },
    { body: id(script.unstreamed.answer('done'), 2 * turn + 1) },
  ])
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const store = memoryStore()
  const model = open(server.url, { streaming: false, ...settings })
  for (const message of ['one', 'two', 'three']) {
    const { status } = await new TurnRunner({ model, store, tools: [look] }).run({
      conversation: 'c',
      message,
    })
    expect(status).toBe('completed')
  }
  const bodies = server.requests.map(({ body }) => body as Json)
  const calls = []
  for await (const { kind, data } of store.entries('c')) if (kind === 'model-call') calls.push(data)
  for (const { id: modelCall } of calls) {
    expect((await requestOf(store, { conversation: 'c', modelCall })).proven).toBe(true)
  }
  return { bodies, misses: calls.map(({ cacheMiss }) => cacheMiss), calls }
}

const MISS = { type: 'messages_changed', cache_missed_input_tokens: 7 }

describe('the reason for a cache miss', () => {
  it('is asked of Anthropic with the id of the last response, and kept', async () => {
    const diagnostics = { cache_miss_reason: MISS }
    const { bodies, misses } = await play(
      'anthropic-messages',
      { diagnoseCache: true },
      { diagnostics },
    )
    expect(bodies.slice(0, 3).map((body) => body['diagnostics'])).toEqual([
      { previous_message_id: null },
      { previous_message_id: 'response_0' },
      { previous_message_id: 'response_1' },
    ])
    expect(misses[1]).toEqual(MISS)
  })

  it('is asked of OpenAI with the id of the last response, and kept', async () => {
    const prompt_cache_diagnostics = { type: 'cache_miss', reason: 'tools_changed' }
    const { bodies, misses } = await play(
      'openai-responses',
      { model: 'gpt-5.6', diagnoseCache: true },
      { prompt_cache_diagnostics },
    )
    expect(bodies.slice(0, 2).map((body) => body['prompt_cache_options'])).toEqual([
      undefined,
      { comparison_response_id: 'response_0' },
    ])
    expect(misses[1]).toEqual(prompt_cache_diagnostics)
  })

  it('is not a hit, and not a long text', async () => {
    const hit = { type: 'cache_hit' }
    const told = await play('openai-responses', {}, { prompt_cache_diagnostics: hit })
    expect(told.misses.every((miss) => miss === undefined)).toBe(true)
    const diagnostics = { cache_miss_reason: { type: 'x'.repeat(5_000) } }
    const long = await play('anthropic-messages', { diagnoseCache: true }, { diagnostics })
    expect(long.misses.every((miss) => miss === undefined)).toBe(true)
  })

  it('is not asked for unless wanted', async () => {
    const { bodies } = await play('anthropic-messages', {})
    expect(bodies.some((body) => 'diagnostics' in body)).toBe(false)
  })
})

describe.each([
  ['openai-responses', 'input', 'input_text'],
  ['openai-chat', 'messages', 'text'],
])('cache breakpoints over %s', (api, member, type) => {
  const marked = (body: Json | undefined) =>
    ((body?.[member] ?? []) as Json[]).flatMap(({ role, content }) =>
      JSON.stringify(content ?? '').includes('prompt_cache_breakpoint') ? [[role, content]] : [],
    )

  it('stand after the last two messages of the user, and requests still only grow', async () => {
    const { bodies } = await play(api, { model: 'gpt-5.6', cache: true })
    expect(
      bodies.flatMap((body, at) => (at > 0 && !begins(bodies[at - 1] ?? {}, body) ? [at] : [])),
    ).toEqual([])
    const at = (text: string) => [
      'user',
      [{ type, text, prompt_cache_breakpoint: { mode: 'explicit' } }],
    ]
    expect(marked(bodies[1])).toEqual([at('one')])
    expect(marked(bodies[5])).toEqual([at('two'), at('three')])
  })

  it('are not for older models, for other hosts, or where no cache is wanted', async () => {
    for (const settings of [
      { model: 'gpt-5.5', cache: true },
      { model: 'gpt-5.6' },
      { model: 'gpt-5.6', cache: false },
    ]) {
      const { bodies } = await play(api, settings)
      expect(bodies.flatMap(marked)).toEqual([])
    }
  })
})
