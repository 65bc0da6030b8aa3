import { describe, expect, it, vi } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { Intent, NewEntry } from '../../store/entry.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { Middleware } from './middleware.ts'

const wire = {
  provider: 'p',
  api: 'a',
  type: 'function_call',
  callId: 'wire-1',
  origin: 'natural',
} as const

/** Makes one call of a tool that only reads; gives the intent as the store was given it, and as it stored it. */
async function readOnce(middleware: readonly Middleware[] = []) {
  const store = memoryStore()
  let given: Intent | undefined
  const runner = new TurnRunner({
    middleware,
    store: {
      ...store,
      append: (...request) => {
        const isIntent = (entry: NewEntry) => entry.kind === 'intent'
        given ??= request[2].find(isIntent)?.data
        return store.append(...request)
      },
    },
    testing: { clock: { now: () => 1_700_000_000_000 } },
    tools: [sampleTool('look', () => 'seen')],
    executor: async ({ iteration }) =>
      iteration > 1
        ? { answer: 'done' }
        : { calls: [{ id: 'c', tool: 'look', args: { q: 'x' }, wire }] },
  })
  await runner.run({ message: 'go', conversation: 'k' })
  return { given, stored: (await store.get('k', 'intent', 'c'))?.data }
}

const asked = {
  id: 'c',
  tool: 'look',
  args: { q: 'x' },
  checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
  idempotencyKey: 'k/c',
  createdAt: '2023-11-14T22:13:20.000Z',
  effect: 'read',
  wire,
}

describe('the intent of a read', () => {
  it('tells a store all that it says', async () => {
    const { given, stored } = await readOnce()
    const { id, tool, args, checksum, idempotencyKey, createdAt, effect } = given as Intent
    const told = { id, tool, args, checksum, idempotencyKey, createdAt, effect, wire: given?.wire }
    expect(told).toEqual(asked)
    expect(JSON.parse(JSON.stringify(given))).toEqual(asked)
    expect(stored).toEqual(asked)
  })

  it('says what was asked for, whatever middleware makes of the record', async () => {
    const { stored } = await readOnce([
      {
        async call(_, next) {
          const { wire: _wire, ...own } = await next()
          return new ToolCall({ ...own, createdAt: 0, redacted: ['/args/q'], args: { q: '' } })
        },
      },
    ])
    expect(stored).toEqual(asked)
  })

  it('is redacted also where a store around the store makes entries of its own', async () => {
    const store = memoryStore({ redact: ({ kind }) => (kind === 'intent' ? ['/args/q'] : []) })
    const runner = new TurnRunner({
      store: {
        ...store,
        append: (conversation, epoch, entries, ...rest) => {
          const own = entries.map((entry) => ({ ...entry }))
          return store.append(conversation, epoch, own, ...rest)
        },
      },
      tools: [sampleTool('look', () => 'seen')],
      executor: async ({ iteration }) =>
        iteration > 1
          ? { answer: 'done' }
          : { calls: [{ id: 'c', tool: 'look', args: { q: 'x' } }] },
    })
    await runner.run({ message: 'go', conversation: 'k' })
    const intent = await store.get('k', 'intent', 'c')
    expect(intent?.data).toMatchObject({ id: 'c', args: { q: '[redacted]' }, effect: 'read' })
    expect(intent?.redacted).toEqual(['/args/q'])
  })

  it('does not change with the history where the call was found in the log', async () => {
    const store = memoryStore()
    const call = { id: 'c', tool: 'look', args: { q: 'x' }, wire }
    const dying = sampleTool('look', () => new Promise<string>(() => {}))
    const stuck = new TurnRunner({
      store,
      tools: [dying],
      executor: async () => ({ calls: [call] }),
    })
    void stuck.run({ message: 'go', conversation: 'k' })
    await vi.waitFor(async () => expect(await store.count({ kind: 'history-item' })).toBe(1))
    const runner = new TurnRunner({
      store,
      tools: [sampleTool('look', () => 'seen')],
      executor: async ({ items }) => {
        for (const item of items) {
          if (item.type !== 'call') continue
          Reflect.set(item.args, 'q', 'changed')
          Reflect.set(item.wire, 'callId', 'changed')
        }
        return { answer: 'done' }
      },
    })
    await runner.recover({ conversation: 'k', force: true })
    expect((await store.get('k', 'intent', 'c'))?.data).toMatchObject({ args: { q: 'x' }, wire })
  })
})
