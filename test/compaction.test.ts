import { describe, expect, it } from 'vitest'
import { wireModel } from '../src/model/wire-model.ts'
import { anthropicMessagesProvider } from '../src/providers/anthropic/definition.ts'
import type { HistoryItem } from '../src/records/history-item.ts'
import { resultText } from '../src/records/result-text.ts'
import { spokenText } from '../src/records/spoken-text.ts'
import type { Entry, EntryOf, Summary } from '../src/store/entry.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { RedactionTarget } from '../src/store/rows/redaction.ts'
import type { Store } from '../src/store/store.ts'
import { eventRecorder } from '../src/testing/event-recorder.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import type { SummaryRequest } from '../src/turn/compact/compaction.ts'
import { modelSummary } from '../src/turn/compact/model-summary.ts'
import type { TurnLimits } from '../src/turn/limits/limits.ts'
import type { Prices } from '../src/turn/limits/prices.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { requestOf } from '../src/wire/request-of.ts'
import { sampleTool } from './turn-samples.ts'

async function summaries(store: Store, id = 'c'): Promise<readonly EntryOf<'summary'>[]> {
  const found: EntryOf<'summary'>[] = []
  for await (const entry of store.entries(id)) if (entry.kind === 'summary') found.push(entry)
  return found
}

const textsOf = (items: readonly HistoryItem[]) =>
  items.map((item) => (item.type === 'message' ? spokenText(item.parts) : item.type))

const long = (word: string) => `${word} `.repeat(100).trim()

/** What was said in some turns. */
const turns = (...numbers: readonly number[]) =>
  numbers.flatMap((turn) => [long(`question${turn}`), long(`answer${turn}`)])

/** Answers every request with a long text, and keeps what it was asked. */
const talker = (length: number) =>
  scriptedModel(Array.from({ length }, (_, at) => [{ text: long(`answer${at + 1}`) }]))

describe('compaction', () => {
  it('replaces all turns but the newest by a summary in an envelope', async () => {
    const store = memoryStore()
    const asked: SummaryRequest[] = []
    const summarise = (request: SummaryRequest) => {
      asked.push(request)
      return `Summary ${asked.length}.`
    }
    const model = talker(6)
    const compact = { at: 1_500, keepTurns: 2, summarise }
    const runner = new TurnRunner({ model, store, compact })
    const context = { user: 'ann' }
    for (let turn = 1; turn <= 6; turn++) {
      await runner.run({ conversation: 'c', message: long(`question${turn}`), context })
    }
    const found = await summaries(store)
    expect(found.map(({ data }) => data)).toMatchObject([
      { text: 'Summary 1.', trust: 'first-party', calls: [] },
      { text: 'Summary 2.', trust: 'first-party', calls: [] },
    ] satisfies Partial<Summary>[])
    expect(
      asked.map(({ items, previous, context: told }) => [textsOf(items), previous, told]),
    ).toEqual([
      [turns(1, 2), undefined, context],
      [turns(3, 4), 'Summary 1.', context],
    ])
    const last = textsOf(model.requests.at(-1)?.items ?? [])
    expect(last).toEqual([
      expect.stringMatching(/<\S+ role="summary" trust="first-party" id=[^]*\nSummary 2\.\n/),
      ...turns(5),
      long('question6'),
    ])
  })

  it('cuts through a long turn between two responses, and keeps the messages of the turn', async () => {
    const store = memoryStore()
    const steps = Array.from({ length: 12 }, (_, at) => [{ call: 'look', args: { q: `${at}` } }])
    const model = scriptedModel([...steps, [{ text: 'done' }], [{ text: 'ok' }]])
    const look = sampleTool('look', ({ q }) => long(`found${q}`), { inline: true })
    const covered: (readonly string[])[] = []
    const compact = {
      at: 1_500,
      summarise: ({ items }: SummaryRequest) => {
        covered.push(textsOf(items))
        return `Summary ${covered.length}.`
      },
    }
    const given = { store, tools: [look], compact }
    await new TurnRunner({ ...given, model }).run({ conversation: 'c', message: 'Look around.' })
    expect(covered[0]).toEqual(['Look around.', 'call', 'call', 'call', 'call'])
    const last = textsOf(model.requests.at(-1)?.items ?? [])
    expect(last.slice(0, 3)).toEqual([
      expect.stringContaining('Summary 2.'),
      'Look around.',
      'call',
    ])
    // The next turn covers the message too.
    const next = new TurnRunner({ ...given, model, compact: { ...compact, at: 600, keepTurns: 1 } })
    await next.run({ conversation: 'c', message: 'Thanks.' })
    expect(covered.at(-1)?.[0]).toBe('Look around.')
    expect(textsOf(model.requests.at(-1)?.items ?? [])).toEqual([
      expect.stringContaining('Summary 3.'),
      'Thanks.',
    ])
    expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: true })
  })

  it('leaves the results of covered calls readable, after a reload too', async () => {
    const store = memoryStore()
    const log = sampleTool('read_log', () => 'alpha\nbeta\ngamma', { trust: 'third-party' })
    const compact = { at: 300, keepTurns: 1, summarise: () => 'The log is call-1.' }
    const ask = (args: object) => [{ call: 'artifact_grep', args }]
    const runner = (...steps: Parameters<typeof scriptedModel>[0][number][]) => {
      const model = scriptedModel(steps)
      return { model, runner: new TurnRunner({ model, store, tools: [log], compact }) }
    }
    const first = runner([{ call: 'read_log', id: 'call-1' }], [{ text: long('I see.') }])
    await first.runner.run({ conversation: 'c', message: 'Read.' })
    const second = runner(ask({ callId: 'call-1', pattern: 'beta' }), [{ text: 'ok' }])
    const outcome = await second.runner.run({ conversation: 'c', message: 'Grep.' })
    expect(outcome.toolCalls.map((call) => resultText(call))).toEqual(['1: beta'])
    const [{ data: summary } = { data: undefined }] = await summaries(store)
    expect(summary).toMatchObject({ calls: ['call-1'], handles: true, trust: 'third-party' })
    const third = runner(ask({ callId: 'call-1', pattern: 'gamma' }), [{ text: 'ok' }])
    const later = await third.runner.run({ conversation: 'c', message: 'Again.' })
    expect(later.toolCalls.map((call) => resultText(call))).toEqual(['2: gamma'])
    // Everything is still there for people.
    const { items } = await store.history({ conversation: 'c' })
    expect(items[0]).toMatchObject({ role: 'user', content: { text: 'Read.' } })
  })

  it('counts its usage, and tells the feed and observers', async () => {
    const store = memoryStore()
    const usage = { inputTokens: 50, outputTokens: 5 }
    const writer = scriptedModel([{ parts: [{ text: 'Short.' }], usage }])
    const prices = { scripted: { input: 1_000_000, output: 2_000_000 } }
    const compact = { at: 400, keepTurns: 1, summarise: modelSummary(writer) }
    const runner = new TurnRunner({ model: talker(2), store, compact, prices })
    const recorder = eventRecorder(runner)
    await runner.run({ conversation: 'c', message: long('one') })
    const handle = runner.run({ conversation: 'c', message: long('two') })
    const told: string[] = []
    for await (const { type } of handle) told.push(type)
    expect((await handle).usage).toMatchObject({ inputTokens: 50, outputTokens: 5, cost: 60 })
    expect(told.filter((type) => type === 'summary')).toEqual(['summary'])
    const [entry] = await summaries(store)
    expect(entry?.data).toMatchObject({ text: 'Short.', usage, cost: 60 })
    expect(recorder.of('summary')).toEqual([entry?.data])
    const [request] = writer.requests
    expect(textsOf(request?.items ?? [])[0]).toContain(`[user]\n${long('one')}`)
  })

  it('tries a summary that fails again, and continues without one', async () => {
    const store = memoryStore()
    let tries = 0
    const summarise = () => {
      tries++
      throw new Error('Busy.')
    }
    const compact = { at: 400, keepTurns: 1, summarise }
    const testing = { sleep: async () => {} }
    const runner = new TurnRunner({ model: talker(2), store, compact, testing })
    const recorder = eventRecorder(runner)
    await runner.run({ conversation: 'c', message: long('one') })
    const outcome = await runner.run({ conversation: 'c', message: long('two') })
    expect(outcome.status).toBe('completed')
    expect(tries).toBe(3)
    expect(recorder.of('warning')).toMatchObject([
      { code: 'COMPACTION_FAILED', message: expect.stringContaining('Busy.') },
    ])
    expect(await summaries(store)).toEqual([])
  })

  it('ends with the turn', async () => {
    const store = memoryStore()
    const abort = new AbortController()
    const summarise = ({ signal }: SummaryRequest) => {
      abort.abort()
      expect(signal.aborted).toBe(true)
      return new Promise<never>(() => {})
    }
    const compact = { at: 400, keepTurns: 1, summarise }
    const runner = new TurnRunner({ model: talker(2), store, compact })
    await runner.run({ conversation: 'c', message: long('one') })
    const { signal } = abort
    const outcome = await runner.run({ conversation: 'c', message: long('two'), signal })
    expect(outcome.status).toBe('aborted')
    expect(await summaries(store)).toEqual([])
  })

  it('is refused above the budget', () => {
    const compact = { at: 701, summarise: () => '' }
    expect(() => new TurnRunner({ model: talker(1), compact, budget: { maxTokens: 700 } })).toThrow(
      /`compact.at` of `TurnRunner` is more than `budget.maxTokens`/,
    )
  })

  it('travels in an export, and no longer counts as trusted', async () => {
    const store = memoryStore()
    const compact = { at: 1_500, summarise: () => 'So far.' }
    const runner = new TurnRunner({ model: talker(4), store, compact })
    for (let turn = 1; turn <= 4; turn++) {
      await runner.run({ conversation: 'c', message: long(`question${turn}`) })
    }
    const lines: string[] = []
    for await (const line of store.export('c')) lines.push(line)
    const other = memoryStore()
    await other.import(lines)
    const [{ data: summary } = { data: undefined }] = await summaries(other)
    expect(summary).toMatchObject({ text: 'So far.', trust: 'third-party' })
    const model = scriptedModel([[{ text: 'ok' }]])
    await new TurnRunner({ model, store: other }).run({ conversation: 'c', message: 'Go on.' })
    expect(textsOf(model.requests[0]?.items ?? [])).toEqual([
      expect.stringContaining('role="summary" trust="third-party"'),
      ...turns(3, 4),
      'Go on.',
    ])
  })

  it('shows the same after a restart, and every request can be proven', async () => {
    const store = memoryStore()
    const bodies: object[] = []
    let answers = 0
    const send = async (body: object) => {
      bodies.push(body)
      const text = { type: 'text', text: long('answer') }
      const call = { type: 'tool_use', id: `toolu_${answers}`, name: 'look', input: {} }
      const block = answers++ % 3 === 2 ? text : call
      const stop = { stop_reason: block === text ? 'end_turn' : 'tool_use', stop_sequence: null }
      const usage = { input_tokens: 10, output_tokens: 2 }
      const whole = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }
      return { payload: { ...whole, content: [block], ...stop, usage } }
    }
    const params = { max_tokens: 99 }
    const settings = { model: 'claude', params, stream: false, send }
    const model = wireModel(anthropicMessagesProvider, settings)
    const look = sampleTool('look', () => `line\n`.repeat(300), { inline: false })
    const budget = { maxTokens: 3_000 }
    const compact = { at: 2_800, keepTurns: 1, summarise: () => 'They look around.' }
    for (let turn = 1; turn <= 12; turn++) {
      // Each turn has a runner of its own, which knows nothing but the log.
      const runner = new TurnRunner({ model, store, tools: [look], budget, compact })
      await runner.run({ conversation: 'c', message: long(`question${turn}`) })
    }
    expect((await summaries(store)).length).toBeGreaterThan(2)
    const calls: string[] = []
    for await (const { kind, data } of store.entries('c')) {
      if (kind === 'model-call') calls.push(data.id)
    }
    const rebuilt = await Promise.all(
      calls.map((modelCall) => requestOf(store, { conversation: 'c', modelCall })),
    )
    expect(rebuilt.map(({ proven }) => proven)).toEqual(bodies.map(() => true))
    expect(rebuilt.map(({ body }) => body)).toEqual(bodies)
    expect(bodies.flatMap((body) => anthropicMessagesProvider.validate?.(body) ?? [])).toEqual([])
  })

  it('goes along into a fork after every entry, and the fork continues', async () => {
    const store = memoryStore()
    const compact = { at: 700, keepTurns: 1, summarise: ({ previous = '' }) => `${previous}So.` }
    const look = sampleTool('look', ({ q }) => `${q} ${long('found')}`, { inline: false })
    const steps = [1, 2, 3, 4].flatMap((turn) => [
      [{ call: 'look', args: { q: `${turn}` }, id: `call-${turn}` }],
      [{ text: long(`answer${turn}`) }],
    ])
    const runner = new TurnRunner({ model: scriptedModel(steps), store, tools: [look], compact })
    for (const turn of [1, 2, 3, 4]) {
      await runner.run({ conversation: 'c', message: long(`question${turn}`) })
    }
    const entries: Entry[] = []
    for await (const entry of store.entries('c')) entries.push(entry)
    const before = JSON.stringify(entries)
    for (const { seq } of entries) {
      const to = `fork-${seq}`
      await store.fork('c', { to, after: { position: `${seq}.0` } })
      const last = (await summaries(store, to)).at(-1)
      const model = scriptedModel([[{ text: 'ok' }]])
      const fork = new TurnRunner({ model, store, tools: [look] })
      const { status } = await fork.run({ conversation: to, message: 'Go on.' })
      expect(status).toBe('completed')
      const [first = ''] = textsOf(model.requests[0]?.items ?? [])
      const expected = last === undefined ? long('question1') : `\n${last.data.text}\n`
      if (seq > 1) expect(first).toContain(expected)
      expect(await store.verify({ conversation: to })).toMatchObject({ ok: true })
    }
    const after: Entry[] = []
    for await (const entry of store.entries('c')) after.push(entry)
    expect(JSON.stringify(after)).toBe(before)
  })

  it('keeps secrets and redacted text out of the log', async () => {
    const redact = ({ kind }: RedactionTarget) => (kind === 'summary' ? ['/text'] : [])
    const texts: string[] = []
    for (const store of [memoryStore(), memoryStore({ redact })]) {
      const key = sampleTool('key', async (_, ctx) => `${(await ctx.secret('pin')).length}`)
      const runner = new TurnRunner({
        model: scriptedModel([[{ text: long('one') }], [{ call: 'key' }], [{ text: 'ok' }]]),
        store,
        tools: [key],
        secrets: () => 'hunter-22',
        compact: { at: 250, keepTurns: 1, summarise: () => 'The pin is hunter-22.' },
      })
      await runner.run({ conversation: 'c', message: long('one') })
      await runner.run({ conversation: 'c', message: 'two' })
      const found = await summaries(store)
      texts.push(...found.map(({ data }) => data.text))
    }
    expect(texts).not.toEqual([])
    expect(texts.at(-1)).toBe('[redacted]')
    expect(JSON.stringify(texts)).toContain('The pin is ')
  })

  it('tells of a summary that is no text, and does not ask again for it', async () => {
    const store = memoryStore()
    const given = [undefined, '', ' ', 7, {}, { text: 5 }]
    const compact = { at: 250, keepTurns: 1, summarise: () => given.shift() as never }
    const steps = given.map((): { text: string }[] => [{ text: long('answer') }])
    const runner = new TurnRunner({
      model: scriptedModel([[{ text: 'x' }], ...steps]),
      store,
      compact,
    })
    const recorder = eventRecorder(runner)
    for (let turn = 0; turn <= steps.length; turn++) {
      await runner.run({ conversation: 'c', message: long('question') })
    }
    expect(given).toEqual([])
    expect(recorder.of('warning').map(({ code }) => code)).toEqual(
      steps.map(() => 'COMPACTION_FAILED'),
    )
  })

  it('stays within the limits of the turn', async () => {
    const play = async (limits: TurnLimits, prices: Prices, writerName = 'scripted') => {
      const usage = { inputTokens: 300, outputTokens: 50 }
      const writer = {
        ...scriptedModel([{ parts: [{ text: 'Short.' }], usage }]),
        model: writerName,
      }
      const store = memoryStore()
      const compact = { at: 400, keepTurns: 1, summarise: modelSummary(writer) }
      const common = { store, prices, limits, compact }
      const first = new TurnRunner({ store, model: talker(1) })
      await first.run({ conversation: 'c', message: long('one') })
      const runner = new TurnRunner({ ...common, model: talker(1) })
      const outcome = await runner.run({ conversation: 'c', message: long('two') })
      return [outcome.status, outcome.reason?.code, (await summaries(store)).length]
    }
    const price = { input: 1_000_000, output: 1_000_000 }
    expect(await play({}, {})).toEqual(['completed', undefined, 1])
    // There is room for the summary, and not for the request behind it.
    expect(await play({ tokens: 400 }, {})).toEqual(['stopped', 'MAX_TOKENS', 1])
    // There is room for neither.
    expect(await play({ tokens: 100 }, {})).toEqual(['stopped', 'MAX_TOKENS', 0])
    expect(await play({ cost: 400 }, { scripted: price })).toEqual(['stopped', 'MAX_COST', 1])
    await expect(play({ cost: 400 }, { scripted: price }, 'other')).rejects.toThrow(
      /needs a price for `other`/,
    )
  })

  it('ends a turn with a limit of cost if it does not say what it cost', async () => {
    const usage = { inputTokens: 1, outputTokens: 1 }
    const store = memoryStore()
    const compact = { at: 400, keepTurns: 1, summarise: () => ({ text: 'Short.', usage }) }
    const prices = { scripted: { input: 1, output: 1 } }
    const runner = new TurnRunner({ model: talker(2), store, compact, prices, limits: { cost: 9 } })
    await runner.run({ conversation: 'c', message: long('one') })
    const { status, reason } = await runner.run({ conversation: 'c', message: long('two') })
    expect([status, reason?.message]).toEqual(['stopped', expect.stringContaining('summarise')])
  })

  it('leaves the conversation tainted, after a reload too', async () => {
    const store = memoryStore()
    const mail = sampleTool('read_mail', () => long('hello'), { trust: 'third-party' })
    const pay = sampleTool('pay', () => 'paid', { effect: 'write' })
    const steps = [
      [{ call: 'read_mail' }],
      [{ text: 'ok' }],
      [{ text: long('ok') }],
      [{ call: 'pay' }],
    ]
    const model = scriptedModel(steps)
    const ask = (message: string) => {
      const compact = { at: 300, keepTurns: 1, summarise: () => 'They read mail.' }
      const runner = new TurnRunner({ model, store, tools: [mail, pay], compact })
      return runner.run({ conversation: 'c', message })
    }
    await ask('Read.')
    await ask('And?')
    const outcome = await ask('Pay.')
    expect(JSON.stringify(model.requests.at(-1)?.items)).not.toContain('hello')
    expect(outcome).toMatchObject({ status: 'suspended', gates: [{ because: 'trust' }] })
  })
})
