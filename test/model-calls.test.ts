import { describe, expect, it } from 'vitest'
import { BobbinError } from '../src/core/error/error.ts'
import { canonicalStringify } from '../src/core/json/canonical.ts'
import { fallbackModel } from '../src/model/fallback-model.ts'
import type { Model } from '../src/model/model.ts'
import { wireModel } from '../src/model/wire-model.ts'
import { anthropicMessagesProvider } from '../src/providers/anthropic/definition.ts'
import { openaiChatProvider } from '../src/providers/openai/chat/definition.ts'
import { Memory } from '../src/records/memory.ts'
import { resultText } from '../src/records/result-text.ts'
import { conversationKey } from '../src/store/conversation-key.ts'
import type { ModelCall } from '../src/store/entry.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { modelExecutor } from '../src/turn/executor/model-executor.ts'
import { subAgent } from '../src/turn/nested/sub-agent.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { requestOf } from '../src/wire/request-of.ts'
import { sampleTool } from './turn-samples.ts'

type Reply = { readonly text?: string; readonly call?: string; readonly fails?: boolean }
const busy = () =>
  new BobbinError('E_PROVIDER_UNAVAILABLE', 'Busy.', { isRetryable: true } as never)

/** A model of Claude's protocol whose client keeps every body that it is given. */
function claude(replies: readonly Reply[], bodies: object[] = [], model = 'claude'): Model {
  const left = [...replies]
  const send = async (body: object) => {
    bodies.push(body)
    const { text, call, fails } = left.shift() ?? {}
    if (fails) throw busy()
    const block = call
      ? { type: 'tool_use', id: `toolu_${left.length}`, name: call, input: {} }
      : { type: 'text', text: text ?? 'done' }
    const stop = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }
    const usage = { input_tokens: 10, cache_creation_input_tokens: 4, output_tokens: 2 }
    const whole = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [block] }
    return { payload: { ...whole, ...stop, usage } }
  }
  const params = { max_tokens: 99 }
  return wireModel(anthropicMessagesProvider, { model, params, stream: false, send })
}

/** A model of the Chat Completions protocol that answers with a text. */
function chat(bodies: object[]): Model {
  const send = async (body: object) => {
    bodies.push(body)
    const message = { role: 'assistant', content: 'hello' }
    const usage = { prompt_tokens: 5, completion_tokens: 1 }
    const choices = [{ index: 0, finish_reason: 'stop', message }]
    return { payload: { id: 'x', object: 'chat.completion', model: 'gpt', choices, usage } }
  }
  return wireModel(openaiChatProvider, { model: 'gpt', stream: false, send })
}

async function modelCalls(store: Store, conversation = 'c'): Promise<readonly ModelCall[]> {
  const calls: ModelCall[] = []
  for await (const { kind, data } of store.entries(conversation)) {
    if (kind === 'model-call') calls.push(data)
  }
  return calls
}

async function expectProven(store: Store, bodies: readonly object[]): Promise<void> {
  const calls = await modelCalls(store)
  const rebuilt = []
  for (const { id: modelCall } of calls) {
    rebuilt.push(await requestOf(store, { conversation: 'c', modelCall }))
  }
  const expected = bodies.map((body) => ({ body, proven: true, missing: [] }))
  expect(canonicalStringify(rebuilt)).toEqual(canonicalStringify(expected))
}

const look = sampleTool('look', () => 'seen')
const go = { conversation: 'c', message: 'go' }
const quick = { sleep: async () => {} }

describe('model-call entries', () => {
  it('tell of every round trip, failed ones included', async () => {
    const store = memoryStore()
    const model = claude([{ fails: true }, { call: 'look' }, { text: 'so' }])
    const prices = { claude: { input: 2, output: 10, cacheWrite: 3 } }
    let now = 0
    const testing = { ...quick, clock: { now: () => ++now }, ids: () => `id-${++now}` }
    const handle = new TurnRunner({ model, store, tools: [look], prices, testing }).run(go)
    const { usage } = await handle
    const calls = await modelCalls(store)
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
    const digests = { instructions: digest, tools: digest, params: digest, request: digest }
    const name = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude' }
    const time = expect.any(Number)
    const short = expect.stringMatching(/^[0-9a-f]{16}$/)
    const prompt = { head: { tools: short, instructions: short }, length: time, digest: short }
    const common = {
      ...name,
      adapter: anthropicMessagesProvider.version,
      startedAt: time,
      endedAt: time,
      prefix: {
        ...{ model: short, settings: short, tools: short, instructions: short },
        ...prompt,
      },
    }
    const spent = { inputTokens: 14, outputTokens: 2, cachedInputTokens: 0, cacheWriteTokens: 4 }
    const answered = { firstTokenAt: time, usage: { ...spent, reasoningTokens: 0 }, cost: 52e-6 }
    const { turnId } = handle
    expect(calls).toEqual([
      {
        ...{ ...common, id: `${turnId}/1`, iteration: 1, attempt: 1, upTo: 2, digests },
        error: { code: 'E_PROVIDER_UNAVAILABLE', message: expect.stringContaining('Busy') },
      },
      {
        ...{ ...common, ...answered, id: `${turnId}/1.1`, iteration: 1, attempt: 2, upTo: 2 },
        ...{ finish: 'tools', digests },
      },
      {
        ...{ ...common, ...answered, id: `${turnId}/2`, iteration: 2, attempt: 1, upTo: 7 },
        ...{ finish: 'stop', digests },
      },
    ])
    expect(usage).toMatchObject({ inputTokens: 28, cacheWriteTokens: 8, cost: 104e-6 })
  })

  it('name the model that answered in place of another, and why', async () => {
    const store = memoryStore()
    const bodies: object[] = []
    const model = fallbackModel([claude([{ fails: true }], bodies), chat(bodies)])
    await new TurnRunner({ model, store }).run(go)
    const [failed, answered] = await modelCalls(store)
    expect(failed).toMatchObject({ model: 'claude', error: { code: 'E_PROVIDER_UNAVAILABLE' } })
    expect(answered).toMatchObject({
      api: 'openai-chat',
      model: 'gpt',
      finish: 'stop',
      fallback: { api: 'anthropic-messages', model: 'claude', error: { message: 'Busy.' } },
    })
    await expectProven(store, bodies)
  })

  it('tell of a request that an abort cut off', async () => {
    const store = memoryStore()
    const abort = new AbortController()
    const until = new Promise(() => {})
    const model = scriptedModel([{ until, check: () => abort.abort() }])
    await new TurnRunner({ model, store }).run({ ...go, signal: abort.signal })
    const [call] = await modelCalls(store)
    expect(call).toMatchObject({ model: 'scripted', error: { message: expect.any(String) } })
  })

  it('store each part once, and a deleted conversation takes its own along', async () => {
    const store = memoryStore()
    const runner = new TurnRunner({ model: claude([]), store, tools: [look], instructions: 'Hi.' })
    await runner.run(go)
    await runner.run({ ...go, message: 'again' })
    await runner.run({ ...go, conversation: 'd' })
    const [first, second] = await modelCalls(store)
    expect({ ...second?.digests, request: '' }).toEqual({ ...first?.digests, request: '' })
    const { instructions = '' } = first?.digests ?? {}
    const live: string[] = []
    for await (const digest of store.digests('c')) live.push(digest)
    expect(live).toContain(instructions)
    expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: true })
    await store.delete('c')
    expect(await store.blob(instructions)).toBeDefined()
    await store.delete('d')
    expect(await store.blob(instructions)).toBeUndefined()
  })
})

describe('requestOf', () => {
  it('proves requests with handles, context, edits, sub-agents and another provider', async () => {
    const store = memoryStore()
    const bodies: object[] = []
    const big = sampleTool('big', () => 'a line\n'.repeat(2_000), { inline: false })
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const inner: object[] = []
    const agent = { model: claude([{ call: 'look' }, { text: 'inside' }], inner), tools: [look] }
    const help = subAgent({
      name: 'help',
      description: 'Helps.',
      agent,
      inputSchema: { type: 'object' },
      message: () => 'work',
    })
    const middleware = [
      {
        dispatch: (ctx: { addMemory(memory: Memory): void }, next: () => Promise<void>) => {
          ctx.addMemory(
            new Memory({
              id: 'm',
              content: 'Ann likes tea.',
              confidence: 1,
              importance: 1,
              createdAt: 0,
            }),
          )
          return next()
        },
      },
    ]
    const replies = [
      { call: 'big' },
      { call: 'help' },
      { fails: true },
      { call: 'pay' },
      { text: 'so' },
    ]
    const tools = [big, pay, help]
    const common = { store, tools, middleware, budget: { maxTokens: 4_000 }, testing: quick }
    const first = new TurnRunner({ ...common, model: claude(replies, bodies) })
    const { gates } = await first.run(go)
    const decisions = gates.map(({ id }) => ({
      ...{ gate: id, approve: true, decidedBy: 'me', args: { q: 'less' } },
    }))
    await first.resume({ conversation: 'c', decisions })
    await new TurnRunner({ ...common, model: chat(bodies) }).run({ ...go, message: 'and you?' })
    expect(bodies).toHaveLength(6)
    expect(inner).toHaveLength(2)
    await expectProven(store, bodies)
    const { entries } = await store.find({ kind: 'model-call' })
    const nested = entries.filter(({ conversation }) => conversation !== 'c')
    for (const { conversation, entry } of nested) {
      const { id: modelCall } = entry.data as ModelCall
      expect(await requestOf(store, { conversation, modelCall })).toMatchObject({ proven: true })
    }
    expect(nested).toHaveLength(2)
  })

  it('says why a request is not proven', async () => {
    const secret = new Uint8Array(32).fill(1)
    const reasonFor = async (
      options: object,
      {
        store = memoryStore(),
        ...query
      }: { store?: Store; key?: Uint8Array; providers?: never } = {},
    ) => {
      const model = claude([{ call: 'look' }])
      await new TurnRunner({ model, store, tools: [look], ...options }).run(go)
      const { id: modelCall = '' } = (await modelCalls(store)).at(-1) ?? {}
      const { proven, reason, missing } = await requestOf(store, {
        conversation: 'c',
        modelCall,
        ...query,
      })
      return proven ? 'proven' : `${reason} ${missing.join()}`.trim()
    }
    const redacting = (kind: string, pointer: string) =>
      memoryStore({ redact: (target) => (target.kind === kind ? [pointer] : []) })
    expect(await reasonFor({})).toBe('proven')
    expect(await reasonFor({ capture: 'digests' })).toMatch(
      /digests only.* instructions,tools,params$/,
    )
    expect(await reasonFor({}, { store: redacting('message', '/content') })).toMatch(/redacted/)
    expect(await reasonFor({}, { store: redacting('model-call', '/parts/tools') })).toMatch(
      /redacted/,
    )
    const store = memoryStore()
    expect(await reasonFor({ conversationSecret: secret }, { store })).toMatch(/pass `key`/)
    const keyed = { key: conversationKey(secret, 'c') }
    expect(await reasonFor({ conversationSecret: secret }, keyed)).toBe('proven')
    const own = claude([])
    const executor: ReturnType<typeof modelExecutor> = (ctx, helpers) =>
      modelExecutor(own)({ ...ctx, items: [...ctx.items, ...ctx.items] }, helpers)
    expect(await reasonFor({ model: undefined, executor })).toMatch(/executor of the application/)
    const newer = { ...anthropicMessagesProvider, version: 'next', requestBody: () => ({}) }
    expect(await reasonFor({}, { providers: [newer] as never })).toMatch(/this is version next/)
    expect(await reasonFor({ model: scriptedModel([[{ text: 'a' }]]) })).toMatch(
      /pass its definition/,
    )
    const unknown = requestOf(memoryStore(), { conversation: 'c', modelCall: 'm' })
    await expect(unknown).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
  })
})

describe('limits of tokens and cost', () => {
  const calling = () => claude(Array.from({ length: 9 }, () => ({ call: 'look' })))
  const prices = { claude: { input: 1_000_000, output: 0 } }

  it.each([
    ['MAX_TOKENS', { tokens: 300 }],
    ['MAX_COST', { cost: 300 }],
  ])('stop a turn before the call that would go over: %s', async (code, limits) => {
    const store = memoryStore()
    const repeat = { hint: 90, refuse: 91, stop: 92 }
    const runner = new TurnRunner({
      model: calling(),
      store,
      tools: [look],
      limits,
      prices,
      repeat,
    })
    const outcome = await runner.run(go)
    expect(outcome).toMatchObject({ status: 'stopped', reason: { code } })
    const { inputTokens } = outcome.usage
    expect(inputTokens).toBeGreaterThan(0)
    expect(inputTokens).toBeLessThan(300 + 16)
  })

  it('count what the turns before have spent, and sub-agents', async () => {
    const store = memoryStore()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const agent = { model: claude([{ text: 'inside' }]) }
    const help = subAgent({
      name: 'help',
      description: 'Helps.',
      agent,
      inputSchema: { type: 'object' },
      message: () => 'work',
    })
    const options = { store, tools: [pay, help], prices }
    const first = new TurnRunner({ ...options, model: claude([{ call: 'help' }, { call: 'pay' }]) })
    const { gates, usage } = await first.run(go)
    expect(usage).toMatchObject({
      inputTokens: 42,
      cost: 42,
      nested: { inputTokens: 14, cost: 14 },
    })
    const decisions = gates.map(({ id: gate }) => ({ gate, approve: true, decidedBy: 'me' }))
    const limits = { tokens: 48 + 1 }
    const second = new TurnRunner({ ...options, model: claude([]), limits })
    const { reason } = await second.resume({ conversation: 'c', decisions })
    expect(reason?.code).toBe('MAX_TOKENS')
    // The next turn begins anew, and its first call alone is too large.
    const next = new TurnRunner({ ...options, model: claude([]), limits: { tokens: 1_000_000 } })
    expect(await next.run(go)).toMatchObject({ status: 'completed' })
  })

  it('hold for what a sub-agent spends while it runs', async () => {
    const agent = { model: calling(), tools: [look], repeat: { hint: 90, refuse: 91, stop: 92 } }
    const help = subAgent({
      name: 'help',
      description: 'Helps.',
      agent,
      inputSchema: { type: 'object' },
      message: () => 'work',
    })
    const model = claude([{ call: 'help' }])
    const runner = new TurnRunner({ model, tools: [help], limits: { tokens: 400 } })
    const { usage, toolCalls } = await runner.run(go)
    const [call] = toolCalls
    expect(call && resultText(call)).toMatch(/over 400 tokens/)
    expect(usage.nested?.inputTokens).toBeGreaterThan(0)
    expect(usage.inputTokens).toBeLessThan(400 + 16)
  })

  it.each([
    ['the model', () => new TurnRunner({ model: claude([]), limits: { cost: 1 } })],
    [
      'a model to fall back on',
      () =>
        new TurnRunner({
          model: fallbackModel([claude([]), chat([])]),
          limits: { cost: 1 },
          prices,
        }),
    ],
    [
      'the model of a sub-agent',
      () =>
        new TurnRunner({
          model: claude([]),
          tools: [subAgent({ name: 'a', description: 'a', agent: { model: chat([]) } })],
          limits: { cost: 1 },
          prices,
        }),
    ],
  ])('need a price for %s', (_, make) => {
    expect(make).toThrow(/needs a price for `(claude|gpt)`/)
  })
})
