import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import { Memory } from '../../records/memory.ts'
import { spokenText } from '../../records/spoken-text.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { uiMessages } from '../../ui/ui-messages.ts'
import type { TurnHandle } from '../turn-handle.ts'
import { TurnRunner } from '../turn-runner.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-regenerate-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

const STORES: readonly [string, () => Store][] = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(join(folder, `${files++}.db`))],
]

/** What a request says, as text. */
const textsOf = (items: readonly HistoryItem[]) =>
  items.map((item) =>
    item.type === 'message' ? spokenText(item.parts) : item.type === 'call' ? item.tool : item.type,
  )

/** A model that tells what it was asked; the script says how it answers. */
function agent(
  store: Store,
  script: Parameters<typeof scriptedModel>[0],
  options: Partial<ConstructorParameters<typeof TurnRunner>[0]> = {},
) {
  const model = scriptedModel(script)
  const runner = new TurnRunner({ store, model, ...options } as never)
  const asked = () => model.requests.map(({ items }) => textsOf(items))
  return { runner, asked, model }
}

async function read(handle: TurnHandle): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for await (const event of handle) events.push(event)
  return events
}

const history = async (store: Store) => {
  const { items } = await store.history({ conversation: 'c' })
  return items.map((item) => ('tool' in item ? item.tool : (item.content?.text ?? '')))
}

describe.each(STORES)('regenerate, on %s', (_, open) => {
  it('asks the last message again, or another one, as if the answer had not been given', async () => {
    const store = open()
    const script = [['one'], ['two'], ['three'], ['four'], ['five']].map(([text]) => [
      { text: text ?? '' },
    ])
    const { runner, asked } = agent(store, script)
    await runner.run({ conversation: 'c', message: 'first' })
    const second = await runner.run({ conversation: 'c', message: 'second' })
    const again = runner.regenerate({ conversation: 'c' })
    const events = await read(again)
    expect(await again).toMatchObject({ status: 'completed', text: 'three' })
    const other = await runner.regenerate({ conversation: 'c', message: 'other' })
    expect(other).toMatchObject({ status: 'completed', text: 'four' })
    await runner.run({ conversation: 'c', message: 'last' })
    expect(asked()).toEqual([
      ['first'],
      ['first', 'one', 'second'],
      ['first', 'one', 'second'],
      ['first', 'one', 'other'],
      ['first', 'one', 'other', 'four', 'last'],
    ])
    const durable = events.filter(({ position }) => position.endsWith('.0'))
    expect(durable.map(({ type }) => type)).toEqual([
      'turnStart',
      'rewind',
      'message',
      'modelCall',
      'message',
      'turnEnd',
    ])
    expect(durable[1]).toMatchObject({ type: 'rewind', toTurnId: second.turnId })
    expect(await history(store)).toEqual(['first', 'one', 'other', 'four', 'last', 'five'])
    const page = await uiMessages(store, { conversation: 'c' })
    const texts = page.map(({ parts }) => parts.map(({ text }) => text).join(''))
    expect(texts).toEqual(['first', 'one', 'other', 'four', 'last', 'five'])
    expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: true })
    await store.close()
  })

  it('gives a later process the same conversation', async () => {
    const store = open()
    const look = sampleTool('look', () => 'seen')
    const big = sampleTool('big', () => 'x'.repeat(50), { inline: false })
    const first = agent(
      store,
      [
        [{ text: 'one' }],
        [{ call: 'look' }, { call: 'big' }],
        [{ text: 'two' }],
        [{ text: 'new' }],
      ],
      { tools: [look, big] },
    )
    await first.runner.run({ conversation: 'c', message: 'first' })
    await first.runner.run({ conversation: 'c', message: 'second' })
    await first.runner.regenerate({ conversation: 'c' })
    const next = agent(store, [[{ text: 'three' }]], { tools: [look, big] })
    await next.runner.run({ conversation: 'c', message: 'third' })
    expect(next.asked()).toEqual([['first', 'one', 'second', 'new', 'third']])
    const [live, loaded] = [first.model.requests.at(-1), next.model.requests.at(-1)]
    expect(JSON.stringify(loaded?.tools)).toBe(JSON.stringify(live?.tools))
    expect(loaded?.items.slice(0, 3)).toEqual(live?.items.slice(0, 3))
    await store.close()
  })

  it('refuses to skip a call that is not a read, and names it', async () => {
    const store = open()
    let paid = 0
    const tools = [
      sampleTool('pay', () => `paid ${++paid}`, { effect: 'write' }),
      sampleTool('look', () => 'seen'),
    ]
    const script = [[{ call: 'look' }, { call: 'pay' }], [{ text: 'done' }], [{ text: 'again' }]]
    const { runner, asked } = agent(store, script, { tools })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'go' })
    const before = (await store.conversation('c'))?.length
    const pay = toolCalls.find(({ tool }) => tool === 'pay')
    await expect(runner.regenerate({ conversation: 'c' })).rejects.toMatchObject({
      code: 'E_EFFECTS_WOULD_REPEAT',
      data: { conversation: 'c', calls: [{ id: pay?.id, tool: 'pay' }] },
      message: expect.stringContaining(`\`pay\` (${pay?.id})`),
    })
    // Nothing was changed, and nobody holds the conversation.
    expect(await store.conversation('c')).toMatchObject({ length: before })
    expect((await store.conversation('c'))?.holder).toBeUndefined()
    const outcome = await runner.regenerate({ conversation: 'c', redoEffects: true })
    expect(outcome).toMatchObject({ status: 'completed', text: 'again' })
    expect(asked().at(-1)).toEqual(['go'])
    expect(await history(store)).toEqual(['go', 'again'])
    await store.close()
  })

  it('counts only calls that started', async () => {
    const store = open()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const tell = sampleTool('tell', () => Promise.reject(new Error('no')), { effect: 'idempotent' })
    const script = [
      [{ call: 'pay' }],
      [{ text: 'as you like' }],
      [{ call: 'unknown' }],
      [{ text: 'sorry' }],
      [{ call: 'tell' }],
      [{ text: 'failed' }],
    ]
    const { runner } = agent(store, script, { tools: [pay, tell] })
    const { gates } = await runner.run({ conversation: 'c', message: 'go' })
    const decisions = gates.map(({ id }) => ({ gate: id, approve: false, decidedBy: 'ann' }))
    await runner.resume({ conversation: 'c', decisions })
    // Denied, then refused, then failed.
    expect(await runner.regenerate({ conversation: 'c' })).toMatchObject({ text: 'sorry' })
    expect(await runner.regenerate({ conversation: 'c' })).toMatchObject({ text: 'failed' })
    await expect(runner.regenerate({ conversation: 'c' })).rejects.toMatchObject({
      data: { calls: [{ tool: 'tell' }] },
    })
    await store.close()
  })

  it('ends the open gates of the turn that it takes back', async () => {
    const store = open()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const { runner, asked } = agent(store, [[{ call: 'pay' }], [{ text: 'no' }]], { tools: [pay] })
    const { gates } = await runner.run({ conversation: 'c', message: 'go' })
    const events = await read(runner.regenerate({ conversation: 'c' }))
    expect(events.map(({ type }) => type).slice(0, 5)).toEqual([
      'turnStart',
      'toolCall',
      'gateDecided',
      'rewind',
      'message',
    ])
    expect(events[1]).toMatchObject({ settlement: 'abandoned' })
    expect(await store.openGates('c')).toEqual([])
    const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    await expect(runner.resume({ conversation: 'c', decisions })).rejects.toMatchObject({
      code: 'E_GATE_STATE',
    })
    expect(asked().at(-1)).toEqual(['go'])
    await store.close()
  })

  it('runs once under one id, and refuses another input under it', async () => {
    const store = open()
    const script = [[{ text: 'one' }], [{ text: 'two' }], [{ text: 'three' }]]
    const { runner, asked } = agent(store, script)
    await runner.run({ conversation: 'c', message: 'go' })
    const input = { conversation: 'c', turnId: 'again' }
    const both = await Promise.all([runner.regenerate(input), runner.regenerate(input)])
    expect(both.map(({ text }) => text)).toEqual(['two', 'two'])
    expect(await runner.regenerate(input)).toMatchObject({ text: 'two', turnId: 'again' })
    expect(asked()).toHaveLength(2)
    for (const other of [{ message: 'x' }, { redoEffects: true }, { context: 1 }]) {
      const handle = runner.regenerate({ ...input, ...other })
      await expect(handle).rejects.toMatchObject({ code: 'E_TURN_CONFLICT' })
    }
    const asRun = runner.run({ ...input, message: 'go' })
    await expect(asRun).rejects.toMatchObject({ code: 'E_TURN_CONFLICT' })
    await store.close()
  })
})

describe('regenerate', () => {
  it('is refused while a turn runs, or waits behind it', async () => {
    const store = memoryStore()
    const go = byHand()
    const begun = byHand()
    let answers = 0
    const runner = new TurnRunner({
      store,
      executor: async () => {
        begun.resolve()
        if (answers++ === 0) await go.promise
        return { answer: `answer ${answers}` }
      },
    })
    const first = runner.run({ conversation: 'c', message: 'go' })
    await begun.promise
    await expect(runner.regenerate({ conversation: 'c' })).rejects.toMatchObject({
      code: 'E_CONVERSATION_BUSY',
    })
    const queued = runner.regenerate({ conversation: 'c', whenBusy: 'queue' })
    go.resolve()
    expect(await first).toMatchObject({ text: 'answer 1' })
    expect(await queued).toMatchObject({ text: 'answer 2' })
    expect(await history(store)).toEqual(['go', 'answer 2'])
  })

  it('starts what a dead process has queued, and skips what it may not take back', async () => {
    const store = memoryStore()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write' })
    const script = [[{ text: 'one' }], [{ text: 'two' }], [{ call: 'pay' }], [{ text: 'three' }]]
    const { runner, asked } = agent(store, [...script, [{ text: 'four' }]], { tools: [pay] })
    const errors: unknown[] = []
    runner.observe('error', ({ error }) => errors.push(error))
    await runner.run({ conversation: 'c', message: 'go' })
    const body = JSON.stringify({ message: '', attachments: [], regenerate: { redoEffects: 1 } })
    const row = { mode: 'queue', body, until: 0 } as const
    await store.feed?.enqueue('c', { turnId: 'left', ...row }, 100)
    await runner.run({ conversation: 'c', message: 'next' })
    expect(asked().slice(1)).toEqual([['go'], ['go', 'two', 'next'], ['go', 'two', 'next', 'pay']])
    await store.feed?.enqueue('c', { turnId: 'refused', ...row }, 100)
    await runner.run({ conversation: 'c', message: 'last' })
    expect(errors).toMatchObject([{ code: 'E_EFFECTS_WOULD_REPEAT' }])
    expect((await store.feed?.requests('c', 0))?.queued).toEqual([])
  })

  it('keeps the context, the attachments and the taint of what it takes back', async () => {
    const store = memoryStore()
    const seen: unknown[] = []
    const fetch = sampleTool('fetch', () => 'a page', { trust: 'third-party' })
    const send = sampleTool('send', () => 'sent', { effect: 'write' })
    const script = [[{ call: 'fetch' }], [{ text: 'read' }], [{ call: 'send' }], [{ text: 'ok' }]]
    const { runner, model } = agent(store, script, {
      tools: [fetch, send],
      instructions: ({ context }: { context: unknown }) => {
        seen.push(context)
        return 'x'
      },
    })
    const png = new Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      trustTier: 'first-party',
      modalityHazard: 'inert',
      reader: bytesMedia(new Uint8Array([1, 2, 3])),
    })
    const input = { conversation: 'c', message: 'go', attachments: [png], context: { user: 'ann' } }
    await runner.run(input)
    // The page is not shown any more, and still counts: the call waits for a person.
    const outcome = await runner.regenerate({ conversation: 'c' })
    expect(outcome).toMatchObject({ status: 'suspended', gates: [{ because: 'trust' }] })
    expect(seen).toEqual([{ user: 'ann' }, { user: 'ann' }])
    const [item] = model.requests.at(-1)?.items ?? []
    expect(item).toMatchObject({ parts: [{ text: 'go' }, { type: 'text' }, { type: 'media' }] })
    await runner.regenerate({ conversation: 'c', message: 'other', context: { user: 'bob' } })
    expect(seen.at(-1)).toEqual({ user: 'bob' })
    expect(model.requests.at(-1)?.items).toMatchObject([{ parts: [{ text: 'other' }] }])
  })

  it('takes back what the context of a turn added', async () => {
    const store = memoryStore()
    const { runner, asked } = agent(store, [[{ text: 'one' }], [{ text: 'two' }]], {
      budget: { maxTokens: 100_000 },
      middleware: [
        {
          async dispatch(ctx, next) {
            ctx.addMemory(new Memory({ id: 'm', content: 'likes tea', createdAt: 0 }))
            await next()
          },
        },
      ],
    })
    await runner.run({ conversation: 'c', message: 'go' })
    await runner.regenerate({ conversation: 'c', message: 'other' })
    const [first, second] = asked()
    expect(second?.length).toBe(2)
    expect(second?.[0]).toBe(first?.[0])
    expect(second?.[1]).toBe('other')
  })

  it('shows results of calls in the background again, if their calls still count', async () => {
    const store = memoryStore()
    const go = byHand()
    const begun = byHand()
    const slow = sampleTool(
      'slow',
      async () => {
        begun.resolve()
        await go.promise
        return 'slow result'
      },
      { background: true },
    )
    const quick = sampleTool('quick', () => 'quick result', { background: true })
    const script = [
      [{ call: 'slow' }],
      [{ text: 'wait' }],
      [{ call: 'quick' }],
      [{ text: 'one' }],
      [{ text: 'two' }],
      [{ text: 'three' }],
    ]
    const { runner, model } = agent(store, script, { tools: [slow, quick] })
    const turn = runner.run({ conversation: 'c', message: 'go' })
    await begun.promise
    const steered = runner.run({ conversation: 'c', message: 'and?', whenBusy: 'steer' })
    while (model.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    go.resolve()
    await Promise.all([turn, steered])
    await runner.regenerate({ conversation: 'c' })
    const last = JSON.stringify(model.requests.at(-1)?.items)
    expect(last).toContain('slow result')
    expect(last).not.toContain('quick')
    const next = agent(store, [[{ text: 'four' }]], { tools: [slow, quick] })
    await next.runner.run({ conversation: 'c', message: 'next' })
    const loaded = JSON.stringify(next.model.requests[0]?.items)
    expect(loaded.startsWith(last.slice(0, -1))).toBe(true)
  })

  it('takes back a summary that cut through the turn', async () => {
    const store = memoryStore()
    const look = sampleTool('look', () => `seen ${'word '.repeat(150)}`)
    const calls = Array.from({ length: 6 }, (_, q) => [{ call: 'look', args: { q: `${q}` } }])
    const script = [[{ text: 'one' }], ...calls, [{ text: 'two' }], [{ text: 'three' }]]
    const compact = { at: 600, keepTurns: 1, summarise: () => 'SUMMARY' }
    const options = { tools: [look], compact } as const
    const { runner, asked, model } = agent(store, script, options)
    await runner.run({ conversation: 'c', message: 'first' })
    await runner.run({ conversation: 'c', message: 'second' })
    expect(asked().at(-1)?.[0]).toContain('SUMMARY')
    await runner.regenerate({ conversation: 'c' })
    expect(asked().at(-1)).toEqual(['first', 'one', 'second'])
    const next = agent(store, [[{ text: 'four' }]], options)
    await next.runner.run({ conversation: 'c', message: 'third' })
    expect(next.asked()).toEqual([['first', 'one', 'second', 'three', 'third']])
    const [live, loaded] = [model.requests.at(-1), next.model.requests[0]]
    expect(JSON.stringify(loaded?.tools)).toBe(JSON.stringify(live?.tools))
  })

  it('takes back a message that steered a turn, and keeps what the turn did before it', async () => {
    const store = memoryStore()
    const go = byHand()
    const begun = byHand()
    const pay = sampleTool(
      'pay',
      async () => {
        begun.resolve()
        await go.promise
        return 'paid'
      },
      { effect: 'write' },
    )
    const script = [[{ call: 'pay' }], [{ text: 'one' }], [{ text: 'two' }]]
    const { runner, asked } = agent(store, script, { tools: [pay] })
    const turn = runner.run({ conversation: 'c', message: 'go' })
    await begun.promise
    const steered = runner.run({ conversation: 'c', message: 'quickly', whenBusy: 'steer' })
    while (((await store.feed?.requests('c', 0))?.queued.length ?? 0) === 0) await Promise.resolve()
    go.resolve()
    await Promise.all([turn, steered])
    const events = await read(runner.regenerate({ conversation: 'c' }))
    expect(events.find(({ type }) => type === 'rewind')).toMatchObject({ toTurnId: turn.turnId })
    expect(asked().at(-1)).toEqual(['go', 'pay', 'quickly'])
    const page = await uiMessages(store, { conversation: 'c' })
    expect(page.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('recovers: before its message was stored nothing has changed, after it the message is asked', async () => {
    const store = memoryStore()
    const { runner } = agent(store, [[{ text: 'one' }]])
    const first = await runner.run({ conversation: 'c', message: 'go' })
    const start = async (...more: Parameters<Store['append']>[2]) => {
      const { epoch } = await store.acquire('c', { owner: 'dead', leaseMs: 1 })
      const turnId = `dead-${epoch}`
      const data = { input: 'run' } as const
      await store.append('c', epoch, [{ kind: 'turn-start', turnId, data }, ...more])
      await store.release('c', epoch)
      return turnId
    }
    await start()
    const early = agent(store, [])
    expect(await early.runner.recover({ conversation: 'c' })).toMatchObject({
      status: 'stopped',
      reason: { code: 'NOTHING_LEFT' },
    })
    expect(await history(store)).toEqual(['go', 'one'])
    const last = (await store.history({ conversation: 'c' })).items[0]
    const message = { id: 'm2', role: 'user', content: 'other', createdAt: 0 }
    await start(
      {
        kind: 'rewind',
        turnId: 'dead',
        data: { id: 'r', toTurnId: first.turnId, message: last?.id ?? '' },
      },
      { kind: 'message', turnId: 'dead', data: message },
    )
    const late = agent(store, [[{ text: 'two' }]])
    expect(await late.runner.recover({ conversation: 'c' })).toMatchObject({ text: 'two' })
    expect(late.asked()).toEqual([['other']])
    expect(await history(store)).toEqual(['other', 'two'])
  })

  it('counts a call that a dead process left as one that started', async () => {
    const store = memoryStore()
    const begun = byHand()
    const pay = sampleTool(
      'pay',
      () => {
        begun.resolve()
        return new Promise(() => {})
      },
      { effect: 'write' },
    )
    const { runner } = agent(store, [[{ call: 'pay' }]], { tools: [pay] })
    void runner.run({ conversation: 'c', message: 'go' })
    await begun.promise
    const { epoch = 0 } = (await store.conversation('c')) ?? {}
    await store.release('c', epoch)
    const next = agent({ ...store }, [[{ text: 'again' }]], { tools: [pay] })
    await expect(next.runner.regenerate({ conversation: 'c' })).rejects.toMatchObject({
      code: 'E_EFFECTS_WOULD_REPEAT',
      data: { calls: [{ tool: 'pay' }] },
    })
    const again = await next.runner.regenerate({ conversation: 'c', redoEffects: true })
    expect(again).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'in-doubt' }] })
    expect(next.asked()).toEqual([['go']])
  })

  it('does not count a call that was undone', async () => {
    const store = memoryStore()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', undo: () => 'paid back' })
    const script = [[{ call: 'pay' }], [{ text: 'one' }], [{ text: 'two' }]]
    const { runner, asked } = agent(store, script, { tools: [pay] })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'go' })
    const toolCallId = toolCalls[0]?.id ?? ''
    await runner.undo({ conversation: 'c', toolCallId, decidedBy: 'ann' })
    expect(await runner.regenerate({ conversation: 'c' })).toMatchObject({ text: 'two' })
    expect(asked().at(-1)).toEqual(['go'])
  })

  it('exports and imports what was taken back as taken back', async () => {
    const store = memoryStore()
    const { runner } = agent(store, [[{ text: 'one' }], [{ text: 'two' }]])
    await runner.run({ conversation: 'c', message: 'go' })
    await runner.regenerate({ conversation: 'c' })
    const lines: string[] = []
    for await (const line of store.export('c')) lines.push(line)
    const other = memoryStore()
    await other.import(lines)
    expect(await history(other)).toEqual(['go', 'two'])
    const loaded = agent(other, [[{ text: 'three' }]])
    await loaded.runner.run({ conversation: 'c', message: 'next' })
    expect(loaded.asked()).toEqual([['go', 'two', 'next']])
    for (const [from, to] of [
      [/"message":"[^"]+"/, '"message":"nowhere"'],
      [/"message":"[^"]+"/, '"message":7'],
      [/"toTurnId":"[^"]+"/, '"toTurnId":""'],
    ] as const) {
      const hostile = lines.map((line) =>
        line.includes('"kind":"rewind"') ? line.replace(from, to) : line,
      )
      await expect(memoryStore().import(hostile)).rejects.toMatchObject({
        code: 'E_INVALID_IMPORT',
      })
    }
  })

  it('refuses input that it cannot use', async () => {
    const store = memoryStore()
    const { runner } = agent(store, [[{ text: 'one' }]])
    const wrong = async (input: object, code: string, path?: string) => {
      await expect(runner.regenerate(input as never)).rejects.toMatchObject({
        code,
        ...(path !== undefined && { data: { path } }),
      })
    }
    await wrong({ conversation: 'nowhere' }, 'E_NOT_FOUND')
    const { epoch } = await store.acquire('empty', { owner: 'test' })
    await store.release('empty', epoch)
    await wrong({ conversation: 'empty' }, 'E_INVALID_TURN_INPUT', 'conversation')
    await runner.run({ conversation: 'c', message: 'go' })
    await wrong({}, 'E_INVALID_TURN_INPUT', 'conversation')
    await wrong({ conversation: 'c', message: '' }, 'E_INVALID_TURN_INPUT', 'message')
    await wrong({ conversation: 'c', attachments: [1] }, 'E_INVALID_TURN_INPUT', 'attachments')
    await wrong({ conversation: 'c', redoEffects: 'no' }, 'E_INVALID_TURN_INPUT', 'redoEffects')
    await wrong({ conversation: 'c', whenBusy: 'steer' }, 'E_INVALID_TURN_INPUT', 'whenBusy')
    await wrong({ conversation: 'c', stray: 1 }, 'E_INVALID_TURN_INPUT', 'stray')
  })

  it('needs a message if the last one was not stored whole', async () => {
    const redact = ({ kind }: { kind: string }) => (kind === 'message' ? ['/content'] : [])
    const store = memoryStore({ redact })
    const { runner } = agent(store, [[{ text: 'one' }], [{ text: 'two' }]])
    await runner.run({ conversation: 'c', message: 'my secret' })
    await expect(runner.regenerate({ conversation: 'c' })).rejects.toMatchObject({
      data: { path: 'message' },
    })
    const again = await runner.regenerate({ conversation: 'c', message: 'again' })
    expect(again).toMatchObject({ text: 'two' })
  })
})
