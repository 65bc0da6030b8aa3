import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { inputRequired } from '../../tools/person-request.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import type { ToolOptions, UndoneCall } from '../../tools/tool-options.ts'
import { TurnRunner } from '../turn-runner.ts'

const records = async (store: Store): Promise<readonly ToolCall[]> => {
  const { items } = await store.history({ conversation: 'k' })
  return items.filter((item) => 'settlement' in item)
}

const sound = async (store: Store) =>
  expect((await store.verify({ conversation: 'k' })).faults).toEqual([])

const shown = (items: readonly HistoryItem[] = []) => JSON.stringify(items)

/** A conversation with one call that paid. */
async function paid(
  more: object = {},
  script = [[{ call: 'pay', args: { q: 'x' }, id: 'c1' }], [{ text: 'Paid.' }]],
) {
  const store = memoryStore()
  const undone: unknown[] = []
  const tool = sampleTool('pay', () => 'receipt 7', {
    effect: 'write',
    undo: ({ id, args, settlement }: UndoneCall, { idempotencyKey, context }: ToolContext) => {
      undone.push({ id, args, settlement, context })
      return `refunded under ${idempotencyKey.length > 0}`
    },
    ...(more as Partial<ToolOptions>),
  } as object)
  const model = scriptedModel([...script, [{ text: 'Ok.' }], [{ text: 'Again.' }]] as never)
  const runner = new TurnRunner({ model, tools: [tool], store })
  await runner.run({ conversation: 'k', message: 'Pay.', context: { user: 'ann' } })
  const undo = (toolCallId = 'c1', given: object = {}) =>
    runner.undo({ conversation: 'k', toolCallId, decidedBy: 'bob', ...given })
  return { store, undone, model, runner, undo }
}

describe('undo', () => {
  it('is a turn of its own with one call, and asks no model', async () => {
    const { store, undone, model, runner, undo } = await paid()
    const events: FeedEvent[] = []
    const handle = undo()
    for await (const event of handle) events.push(event)
    const outcome = await handle
    expect(outcome).toMatchObject({ status: 'completed', gates: [] })
    expect(outcome.toolCalls).toMatchObject([
      {
        id: 'undo:c1',
        tool: 'undo:pay',
        args: { toolCallId: 'c1' },
        undoes: 'c1',
        settlement: 'ok',
      },
    ])
    expect(undone).toEqual([
      { id: 'c1', args: { q: 'x' }, settlement: 'ok', context: { user: 'ann' } },
    ])
    expect(model.requests).toHaveLength(2)
    expect(events.map(({ type }) => type)).toEqual(['turnStart', 'toolCall', 'toolCall', 'turnEnd'])
    expect(events[0]).toMatchObject({ input: 'undo' })
    const replayed: FeedEvent[] = []
    for await (const event of runner.follow({ conversation: 'k' })) replayed.push(event)
    expect(JSON.stringify(replayed.slice(-4))).toBe(JSON.stringify(events))
    await sound(store)
  })

  it('is told to the model as an enveloped note, never as a call', async () => {
    const { model, runner, undo } = await paid()
    await undo()
    await runner.run({ conversation: 'k', message: 'And?' })
    const items = model.requests.at(-1)?.items ?? []
    expect(items.filter(({ type }) => type === 'call')).toHaveLength(1)
    expect(items.map((item) => item.type)).toEqual([
      'message',
      'call',
      'message',
      'message',
      'message',
    ])
    expect(shown(items)).toMatch(/The call \\\\\\"c1\\\\\\" of `pay` was undone|c1.*was undone/)
    expect(shown(items)).toContain('refunded under true')
    const before = model.requests.at(-2)?.items ?? []
    expect(items.slice(0, before.length)).toEqual(before)
  })

  it.each([
    [
      'was undone already',
      async ({ undo }: Awaited<ReturnType<typeof paid>>) => void (await undo()),
      'c1',
    ],
    ['is unknown', async () => {}, 'nothing'],
  ])('refuses a call that %s', async (_, before, id) => {
    const all = await paid()
    await before(all)
    await expect(all.undo(id)).rejects.toMatchObject({ code: 'E_CANNOT_UNDO' })
    expect(all.undone.length).toBeLessThan(2)
    await sound(all.store)
  })

  it('refuses a call whose tool has no `undo`, and one that did not take effect', async () => {
    const without = await paid({ undo: undefined })
    await expect(without.undo()).rejects.toThrow(/its tool `pay` has no `undo`/)
    const failing = await paid({
      handler: () => {
        throw new Error('no money')
      },
    })
    await expect(failing.undo()).rejects.toThrow(/it ended `failed`/)
  })

  it('may be asked for again after it failed', async () => {
    let tries = 0
    const { undo, store } = await paid({
      undo: () => {
        if (++tries === 1) throw new Error('bank closed')
        return 'refunded'
      },
    })
    expect((await undo()).toolCalls).toMatchObject([{ settlement: 'failed' }])
    expect((await undo()).toolCalls).toMatchObject([{ id: 'undo:c1~2', settlement: 'ok' }])
    await expect(undo()).rejects.toMatchObject({ code: 'E_CANNOT_UNDO' })
    await sound(store)
  })

  it('undoes a call in doubt', async () => {
    const begun = byHand()
    const all = await (async () => {
      const store = memoryStore()
      const settlements: string[] = []
      const tool = sampleTool(
        'pay',
        async () => {
          begun.resolve()
          await new Promise(() => {})
        },
        {
          effect: 'write',
          timeoutMs: 20,
          undo: ({ settlement }: { readonly settlement: string }) => {
            settlements.push(settlement)
            return 'refunded if it was paid'
          },
        } as object,
      )
      const model = scriptedModel([[{ call: 'pay', args: {}, id: 'c1' }], [{ text: 'Hm.' }]])
      const runner = new TurnRunner({ model, tools: [tool], store })
      await runner.run({ conversation: 'k', message: 'Pay.' })
      return { runner, settlements }
    })()
    const outcome = await all.runner.undo({ conversation: 'k', toolCallId: 'c1', decidedBy: 'bob' })
    expect([outcome.status, all.settlements]).toEqual(['completed', ['in-doubt']])
  })

  it('asks for the approval of the tool, with the arguments of the call', async () => {
    const asked: unknown[] = []
    const { undo, undone, runner, store, model } = await paid({
      approval: (args: unknown, { undoes }: { undoes?: string }) => {
        asked.push({ args, undoes })
        return undoes !== undefined
      },
    })
    const first = await undo()
    expect(first).toMatchObject({
      status: 'suspended',
      gates: [{ tool: 'undo:pay', kind: 'approval' }],
    })
    expect(asked).toEqual([
      { args: { q: 'x' }, undoes: undefined },
      { args: { q: 'x' }, undoes: 'c1' },
    ])
    expect(undone).toEqual([])
    const decisions = [{ gate: first.gates[0]?.id ?? '', decidedBy: 'eve', approve: true }]
    const second = await runner.resume({ conversation: 'k', decisions })
    expect(second).toMatchObject({
      status: 'completed',
      toolCalls: [{ undoes: 'c1', settlement: 'ok' }],
    })
    expect([undone.length, model.requests.length]).toEqual([1, 2])
    await sound(store)
  })

  it('takes no grant: every undo is decided by itself', async () => {
    const { undone, runner, undo } = await paid({
      approval: (_: unknown, { undoes }: { undoes?: string }) => undoes !== undefined,
    })
    const { gates } = await undo()
    const answer = { gate: gates[0]?.id ?? '', decidedBy: 'eve', approve: true }
    const decisions = [{ ...answer, grant: { for: 'conversation', args: {} } as const }]
    await expect(runner.resume({ conversation: 'k', decisions })).rejects.toMatchObject({
      code: 'E_INVALID_DECISION',
      data: { path: 'grant' },
    })
    await runner.resume({ conversation: 'k', decisions: [answer] })
    expect(undone).toHaveLength(1)
  })

  it('may ask a person, and runs again with the answer', async () => {
    const seen: unknown[] = []
    const { runner, undo, store } = await paid({
      undo: (_: UndoneCall, { input }: ToolContext) => {
        seen.push(input)
        if (input !== undefined) return 'refunded'
        return inputRequired({ message: 'Which code?', schema: { type: 'object' }, state: 7 })
      },
    })
    const { status, gates } = await undo()
    expect([status, gates[0]?.kind]).toEqual(['suspended', 'input'])
    const decisions = [{ gate: gates[0]?.id ?? '', decidedBy: 'eve', value: { code: 1 } }]
    const { toolCalls } = await runner.resume({ conversation: 'k', decisions })
    expect(toolCalls).toMatchObject([{ tool: 'undo:pay', settlement: 'ok', undoes: 'c1' }])
    expect(seen).toEqual([undefined, { value: { code: 1 }, state: 7 }])
    await sound(store)
  })

  it('undoes a call where it ran only: not in a fork too', async () => {
    const { store, undone, runner, undo } = await paid()
    await store.fork('k', { to: 'fork' })
    const inFork = { conversation: 'fork', toolCallId: 'c1', decidedBy: 'bob' }
    const no = { code: 'E_CANNOT_UNDO', data: { reason: expect.stringContaining('forked') } }
    await expect(runner.undo(inFork)).rejects.toMatchObject(no)
    const again = runner.regenerate({ conversation: 'fork', undo: true })
    await expect(again).rejects.toMatchObject(no)
    expect(undone).toEqual([])
    await undo()
    expect(undone).toHaveLength(1)
  })

  it('changes nothing when it is denied', async () => {
    const { undo, undone, runner, model } = await paid({
      approval: (_: unknown, { undoes }: { undoes?: string }) => undoes !== undefined,
    })
    const { gates } = await undo()
    const decisions = [{ gate: gates[0]?.id ?? '', decidedBy: 'eve', approve: false }]
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome.toolCalls).toMatchObject([{ undoes: 'c1', settlement: 'denied' }])
    expect(undone).toEqual([])
    await runner.run({ conversation: 'k', message: 'And?' })
    expect(shown(model.requests.at(-1)?.items)).not.toContain('undone')
  })

  it('leaves what the conversation waits for as it is', async () => {
    const script = [
      [{ call: 'pay', args: { q: 'x' }, id: 'c1' }],
      [{ call: 'pay', args: { q: 'y' }, id: 'c2' }],
    ]
    const { undo, runner, store } = await paid(
      { trust: 'first-party', approval: ({ q }: { q: string }) => q === 'y' },
      script,
    )
    const [gate] = await store.openGates('k')
    expect((await undo()).status).toBe('completed')
    expect((await store.openGates('k')).map(({ id }) => id)).toEqual([gate?.id])
    const decisions = [{ gate: gate?.id ?? '', decidedBy: 'eve', approve: true }]
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', text: 'Ok.' })
    expect(await records(store)).toMatchObject([{ id: 'c1' }, { undoes: 'c1' }, { id: 'c2' }])
  })

  it('is in doubt when its process dies, and then refused', async () => {
    const begun = byHand()
    const { undo, runner, store } = await paid({
      undo: () => {
        begun.resolve()
        return new Promise(() => {})
      },
    })
    void undo().then(undefined, () => {})
    await begun.promise
    const outcome = await runner.recover({ conversation: 'k', force: true })
    expect(outcome.toolCalls).toMatchObject([{ undoes: 'c1', settlement: 'in-doubt' }])
    await expect(undo()).rejects.toThrow(/unknown whether its undo/)
    await sound(store)
  })

  it.each([{ toolCallId: '' }, { decidedBy: '' }, { toolCallId: 5 }, { what: 1 }, { context: 1n }])(
    'refuses %o',
    async (given) => {
      const { undo } = await paid()
      await expect(undo('c1', given)).rejects.toMatchObject({ code: 'E_INVALID_TURN_INPUT' })
    },
  )
})

describe('regenerate with `undo`', () => {
  it('undoes what it skips, newest first, and then asks again', async () => {
    const script = [
      [{ call: 'pay', args: { q: 'x' }, id: 'c1' }],
      [{ call: 'pay', args: { q: 'y' }, id: 'c2' }],
      [{ text: 'Paid.' }],
    ]
    const { runner, undone, model, store } = await paid({ trust: 'first-party' }, script)
    await expect(runner.regenerate({ conversation: 'k' })).rejects.toMatchObject({
      code: 'E_EFFECTS_WOULD_REPEAT',
    })
    const outcome = await runner.regenerate({ conversation: 'k', undo: true })
    expect(outcome).toMatchObject({ status: 'completed', text: 'Ok.' })
    expect(undone).toMatchObject([{ id: 'c2' }, { id: 'c1' }])
    expect(model.requests.at(-1)?.items).toHaveLength(1)
    await sound(store)
  })

  it('skips what was undone already', async () => {
    const { runner, undone, undo } = await paid()
    await undo()
    expect((await runner.regenerate({ conversation: 'k' })).text).toBe('Ok.')
    expect(undone).toHaveLength(1)
  })

  it('undoes nothing if one call cannot be undone', async () => {
    const { runner, undone, store } = await paid({
      undo: undefined,
    })
    await expect(runner.regenerate({ conversation: 'k', undo: true })).rejects.toMatchObject({
      code: 'E_CANNOT_UNDO',
    })
    expect(undone).toEqual([])
    expect((await records(store)).map(({ id }) => id)).toEqual(['c1'])
  })

  it('does not ask again when an undo failed', async () => {
    const { runner } = await paid({
      undo: () => {
        throw new Error('bank closed')
      },
    })
    await expect(runner.regenerate({ conversation: 'k', undo: true })).rejects.toMatchObject({
      code: 'E_EFFECTS_WOULD_REPEAT',
    })
  })

  it('is suspended by a gated undo, and continues when it is asked again', async () => {
    const { runner, undone } = await paid({
      approval: (_: unknown, { undoes }: { undoes?: string }) => undoes !== undefined,
    })
    const first = await runner.regenerate({ conversation: 'k', undo: true })
    expect(first).toMatchObject({ status: 'suspended', gates: [{ tool: 'undo:pay' }] })
    const decisions = [{ gate: first.gates[0]?.id ?? '', decidedBy: 'eve', approve: true }]
    await runner.resume({ conversation: 'k', decisions })
    expect(undone).toHaveLength(1)
    expect((await runner.regenerate({ conversation: 'k', undo: true })).text).toBe('Ok.')
    expect(undone).toHaveLength(1)
  })

  it('undoes nothing of a turn that is known by its id', async () => {
    const { runner, undone } = await paid({}, [
      [{ call: 'pay', args: { q: 'x' }, id: 'c1' }],
      [{ text: 'Paid.' }],
      [{ call: 'pay', args: { q: 'z' }, id: 'c3' }],
    ] as never)
    const input = { conversation: 'k', undo: true, turnId: 'again' }
    const first = await runner.regenerate(input)
    expect((await runner.regenerate(input)).text).toBe(first.text)
    expect(undone).toHaveLength(1)
  })

  it.each([{ redoEffects: true }, { whenBusy: 'queue' as const }, { undo: 'yes' as never }])(
    'refuses %o',
    async (more) => {
      const { runner } = await paid()
      const handle = runner.regenerate({ conversation: 'k', undo: true, ...more })
      await expect(handle).rejects.toMatchObject({ code: 'E_INVALID_TURN_INPUT' })
    },
  )
})
