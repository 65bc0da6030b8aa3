import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { diesBehind } from '../../../test/mortal-store.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { Entry } from '../../store/entry.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { redactKeys } from '../../store/rows/redact-keys.ts'
import type { Store } from '../../store/store.ts'
import { Tool } from '../../tools/tool.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import type { Executor } from '../executor/executor.ts'
import { TurnRunner } from '../turn-runner.ts'

const inputSchema = z.object({ n: z.number(), password: z.string().optional() })
type Options = Partial<ToolOptions<typeof inputSchema>>

const tool = (options: Options = {}) =>
  new Tool({
    name: 'act',
    description: 'Acts.',
    inputSchema,
    trust: 'first-party',
    handler: () => 'acted',
    ...options,
  })

/** Asks for one call, then answers. */
const script =
  (args: object = { n: 1 }): Executor =>
  async ({ items }) =>
    items.some(({ type }) => type === 'call')
      ? { answer: 'done' }
      : { calls: [{ id: 'call_1', tool: 'act', args: { ...args } }] }

/** A runner whose process stands still for good in the handler of its call. */
async function diesInHandler(store: Store, options: Options = {}, executor = script()) {
  let release = () => {}
  let started = () => {}
  const begun = new Promise<void>((resolve) => {
    started = resolve
  })
  const handler = () => {
    started()
    return new Promise<string>((resolve) => {
      release = () => resolve('too late')
    })
  }
  const runner = new TurnRunner({ store, executor, tools: [tool({ ...options, handler })] })
  const stale = runner.run({ conversation: 'c', message: 'Go.' })
  await begun
  return { stale, release }
}

interface Watched {
  readonly runner: TurnRunner
  readonly warnings: string[]
  items: readonly HistoryItem[]
}

function watched(store: Store, options: Options = {}, executor = script()): Watched {
  const self: Watched = {
    warnings: [],
    items: [],
    runner: new TurnRunner({
      store,
      tools: [tool(options)],
      executor: (ctx, helpers) => {
        self.items = [...ctx.items]
        return executor(ctx, helpers)
      },
    }),
  }
  self.runner.observe('warning', ({ code }) => self.warnings.push(code))
  return self
}

async function log(store: Store): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of store.entries('c')) entries.push(entry)
  return entries
}

const again = { conversation: 'c', force: true }

describe('runner.recover', () => {
  it('waits for the lease of a runner that may still live, unless told that it does not', async () => {
    const store = memoryStore()
    await diesInHandler(store)
    const { runner } = watched(store)
    const attempt = runner.recover({ conversation: 'c' })
    await expect(attempt).rejects.toMatchObject({ code: 'E_CONVERSATION_BUSY' })
    expect(await runner.recover(again)).toMatchObject({ status: 'completed', text: 'done' })
  })

  it.each([undefined, 'write'] as const)(
    'surfaces a call in doubt to operator and model, effect %s',
    async (effect) => {
      const store = memoryStore()
      const options: Options = effect === undefined ? {} : { effect }
      await diesInHandler(store, options)
      let ran = 0
      const self = watched(store, { ...options, handler: () => `${++ran}` })
      const outcome = await self.runner.recover(again)
      expect(outcome).toMatchObject({
        status: 'completed',
        toolCalls: [{ id: 'call_1', settlement: 'in-doubt' }],
      })
      expect(ran).toBe(0)
      expect(self.warnings).toContain('IN_DOUBT')
      expect(JSON.stringify(self.items)).toContain('In doubt')
      const notes = (await log(store)).filter(({ kind }) => kind === 'note')
      expect(notes).toMatchObject([{ data: { code: 'IN_DOUBT', data: { toolCallId: 'call_1' } } }])
    },
  )

  it.each(['read', 'idempotent'] as const)(
    'runs a call again under the same key, effect %s',
    async (effect) => {
      const store = memoryStore()
      const keys: string[] = []
      const handler: Options['handler'] = (_, ctx) => {
        keys.push(ctx.idempotencyKey)
        return 'acted'
      }
      await diesInHandler(store, { effect })
      const outcome = await watched(store, { effect, handler }).runner.recover(again)
      expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
      expect(keys).toEqual(['c/call_1'])
    },
  )

  it('repeats the warning of a doubt if the process died right after storing it', async () => {
    const store = memoryStore()
    await diesInHandler(store, { effect: 'write' })
    const { mortal, died } = diesBehind(store, ({ kind }) => kind === 'settlement')
    const second = watched(mortal, { effect: 'write' })
    void second.runner.recover(again)
    await died
    const third = watched(store, { effect: 'write' })
    await third.runner.recover(again)
    expect([second.warnings, third.warnings]).toEqual([[], ['IN_DOUBT']])
    await third.runner.run({ conversation: 'c', message: 'Next.' })
    expect(third.warnings).toEqual(['IN_DOUBT'])
  })

  it('fences the runner that it took the conversation from', async () => {
    const store = memoryStore()
    const { stale, release } = await diesInHandler(store)
    expect(await watched(store).runner.recover(again)).toMatchObject({ status: 'completed' })
    const before = await log(store)
    release()
    expect(await stale).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
    expect(await log(store)).toEqual(before)
  })

  it.each([
    ['yes', { happened: 'yes', output: 'found' }, 'ok', 0],
    ['no', { happened: 'no' }, 'ok', 1],
    ['unknown', { happened: 'unknown' }, 'in-doubt', 0],
  ] as const)('believes a tool that says %s', async (_, found, settlement, times) => {
    const store = memoryStore()
    let ran = 0
    const reconcile = async () => found
    await diesInHandler(store, { effect: 'write', reconcile })
    const handler = () => `${++ran}`
    const outcome = await watched(store, { effect: 'write', reconcile, handler }).runner.recover(
      again,
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'call_1', settlement }],
    })
    expect(ran).toBe(times)
  })

  it.each([
    ['yes', { happened: 'yes', output: 'found' }, 'ok', 'found'],
    ['no', { happened: 'no' }, 'aborted', 'took no effect'],
  ] as const)(
    'supersedes a settled doubt when the tool says %s later',
    async (_, found, settlement, shown) => {
      const store = memoryStore()
      await diesInHandler(store, { effect: 'write' })
      await watched(store, { effect: 'write' }).runner.recover(again)
      const self = watched(store, { effect: 'write', reconcile: async () => found })
      expect(await self.runner.recover(again)).toMatchObject({
        status: 'completed',
        text: 'done',
        toolCalls: [{ id: 'call_1~2', supersedes: 'call_1', settlement }],
      })
      expect(await store.get('c', 'settlement', 'call_1')).toMatchObject({
        data: { settlement: 'in-doubt' },
      })
      await self.runner.run({ conversation: 'c', message: 'And now?' })
      expect(JSON.stringify(self.items)).toContain(shown)
      expect(JSON.stringify(self.items)).not.toContain('In doubt')
      expect(await self.runner.recover(again)).toMatchObject({ toolCalls: [] })
    },
  )

  it('leaves a call open whose output hangs until it is cut off, and asks again', async () => {
    const store = memoryStore()
    const output = new ReadableStream<Uint8Array>()
    const hangs = async () => ({ happened: 'yes', output }) as const
    await diesInHandler(store, { effect: 'write' })
    const { runner } = watched(store, { effect: 'write', reconcile: hangs })
    const cut = await runner.recover({ ...again, signal: AbortSignal.timeout(20) })
    expect(cut).toMatchObject({ status: 'aborted', toolCalls: [] })
    const knows = async () => ({ happened: 'yes', output: 'found' }) as const
    const next = watched(store, { effect: 'write', reconcile: knows })
    expect(await next.runner.recover(again)).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'call_1', settlement: 'ok' }],
    })
  })

  it('does not ask for an answer that the log has already', async () => {
    const store = memoryStore()
    const dying: Store = {
      ...store,
      append: (conversation, epoch, entries, blobs) =>
        entries.some(({ kind }) => kind === 'turn-end')
          ? new Promise(() => {})
          : store.append(conversation, epoch, entries, blobs),
    }
    const runner = new TurnRunner({ store: dying, tools: [tool()], executor: script() })
    void runner.run({ conversation: 'c', message: 'Go.' })
    const answered = async () =>
      (await log(store)).some(
        ({ kind, data }) => kind === 'message' && (data as { role?: string }).role === 'assistant',
      )
    for (let i = 0; i < 1000 && !(await answered()); i++) await new Promise(setImmediate)
    let asked = 0
    const executor: Executor = async () => ({ answer: `another ${++asked}` })
    const outcome = await watched(store, {}, executor).runner.recover(again)
    expect([outcome.status, outcome.text, asked]).toEqual(['completed', 'done', 0])
  })

  it('goes on where a response was cut off, instead of taking it for an answer', async () => {
    const store = memoryStore()
    const cut: Executor = async () => ({ answer: 'half of', finish: 'length' })
    const dying: Store = {
      ...store,
      append: (conversation, epoch, entries, blobs) =>
        entries.some(({ kind }) => kind === 'turn-end')
          ? Promise.reject(new Error('the process is gone'))
          : store.append(conversation, epoch, entries, blobs),
    }
    await watched(dying, {}, cut).runner.run({ conversation: 'c', message: 'Go.' })
    const whole: Executor = async () => ({ answer: 'the rest' })
    expect(await watched(store, {}, whole).runner.recover(again)).toMatchObject({
      text: 'the rest',
    })
  })

  it.each([0, 1])(
    'says so when a process died before its message was stored, turn %s',
    async (turns) => {
      const store = memoryStore()
      const self = watched(store)
      for (let turn = 0; turn < turns; turn++)
        await self.runner.run({ conversation: 'c', message: 'Go.' })
      const { epoch } = await store.acquire('c', { owner: 'dead' })
      await store.append('c', epoch, [{ kind: 'turn-start', turnId: 'dead', data: {} }])
      self.items = []
      const outcome = await self.runner.recover(again)
      expect(outcome).toMatchObject({ status: 'stopped', reason: { code: 'NOTHING_LEFT' } })
      expect(await self.runner.recover(again)).toEqual({ ...outcome, turnId: expect.any(String) })
      expect(self.items).toEqual([])
      expect(await self.runner.run({ conversation: 'c', message: 'Go.' })).toMatchObject({
        text: 'done',
      })
    },
  )

  it('goes on where the model failed, also when it fails once more', async () => {
    const store = memoryStore()
    const failing: Executor = () => Promise.reject(new Error('no model'))
    const self = watched(store, {}, failing)
    await self.runner.run({ conversation: 'c', message: 'Go.' })
    const failed = { status: 'failed', reason: { code: 'EXECUTOR_FAILED' } }
    expect(await self.runner.recover(again)).toMatchObject(failed)
    expect(await self.runner.recover(again)).toMatchObject(failed)
    expect(await watched(store).runner.recover(again)).toMatchObject({ text: 'done' })
  })

  it('does nothing to a conversation that has come to its end', async () => {
    const store = memoryStore()
    await watched(store).runner.run({ conversation: 'c', message: 'Go.' })
    let asked = 0
    const executor: Executor = async () => ({ answer: `another ${++asked}` })
    const outcome = await watched(store, {}, executor).runner.recover(again)
    expect([outcome.status, outcome.text, asked]).toEqual(['completed', 'done', 0])
  })

  it.each(['read', 'idempotent', 'write'] as const)(
    'never runs a call whose arguments were not stored, effect %s',
    async (effect) => {
      const store = memoryStore({ redact: redactKeys(/password/) })
      const secret = script({ n: 1, password: 'hunter' })
      await diesInHandler(store, { effect }, secret)
      let ran = 0
      const self = watched(store, { effect, handler: () => `${++ran}` }, secret)
      const outcome = await self.runner.recover(again)
      const settlement = effect === 'read' ? 'abandoned' : 'in-doubt'
      expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement }] })
      expect(ran).toBe(0)
      expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    },
  )

  it('settles a call that a person changed as in doubt, and shows that', async () => {
    const store = memoryStore()
    const gated: Options = { effect: 'write', approval: true }
    const first = await watched(store, gated).runner.run({ conversation: 'c', message: 'Go.' })
    const [gate] = first.gates
    let started = () => {}
    const begun = new Promise<void>((resolve) => {
      started = resolve
    })
    const handler = () => {
      started()
      return new Promise<string>(() => {})
    }
    const edit = { gate: gate?.id ?? '', approve: true, decidedBy: 'ann', args: { n: 2 } }
    void watched(store, { ...gated, handler }).runner.resume({
      conversation: 'c',
      decisions: [edit],
    })
    await begun
    const self = watched(store, gated)
    expect(await self.runner.recover(again)).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'call_1~2', editOf: 'call_1', settlement: 'in-doubt', args: { n: 2 } }],
    })
    expect(JSON.stringify(self.items)).toContain('In doubt')
  })
})
