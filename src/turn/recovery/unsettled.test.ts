import { describe, expect, it } from 'vitest'

import { z } from 'zod'
import { sampleTool } from '../../../test/turn-samples.ts'

import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import { TurnRunner } from '../turn-runner.ts'

/** A store that dies with the process: from one append on, nothing is stored any more. */
function dyingStore(store: Store, dies: (kinds: readonly string[]) => boolean): Store {
  let isDead = false
  return {
    ...store,
    append: (conversation, epoch, entries, blobs) => {
      isDead ||= dies(entries.map(({ kind }) => kind))
      if (isDead) return Promise.reject(new Error('the process is gone'))
      return store.append(conversation, epoch, entries, blobs)
    },
  }
}

/** Runs one call of `tool` in a process that dies before the call's settlement is stored. */
async function crashed(
  options: Partial<ToolOptions> = {},
  parts: object[] = [{ call: 'work', id: 'c1' }],
) {
  const store = memoryStore()
  const runs: string[] = []
  const work = (more = options) =>
    sampleTool(
      'work',
      (_, ctx) => {
        runs.push(ctx.idempotencyKey)
        return 'done'
      },
      more as object,
    )
  const dying = dyingStore(
    store,
    (kinds) => kinds.includes('settlement') && !kinds.includes('history-item'),
  )
  const model = scriptedModel([parts as never])
  const first = await new TurnRunner({ model, tools: [work()], store: dying }).run({
    message: 'go',
    conversation: 'k',
  })
  const recover = async (tools: Tool[] = [work()], call: 'recover' | 'run' = 'recover') => {
    const runner = new TurnRunner({ model: scriptedModel([[{ text: 'ok' }]]), tools, store })
    const recorder = eventRecorder(runner)
    const conversation = 'k'
    const outcome =
      call === 'run'
        ? await runner.run({ conversation, message: 'on' })
        : await runner.recover({ conversation })
    return { outcome, recorder }
  }
  return { store, runs, work, first, recover }
}

const settlements = ({ outcome }: { outcome: { toolCalls: readonly { settlement: string }[] } }) =>
  outcome.toolCalls.map(({ settlement }) => settlement)

describe('recover', () => {
  it('leaves the outcome of the dying turn failed, never completed', async () => {
    const { first } = await crashed({ effect: 'write' })
    expect(first.status).toBe('failed')
  })

  it.each(['read', 'idempotent'] as const)(
    'runs a %s call again, with the same key',
    async (effect) => {
      const { recover, runs } = await crashed({ effect })
      expect(settlements(await recover())).toEqual(['ok'])
      expect(runs).toEqual(['k/c1', 'k/c1'])
    },
  )

  it.each(['write', undefined] as const)(
    'leaves a %s call in doubt and says so',
    async (effect) => {
      const { recover, runs } = await crashed({ effect: effect as 'write' })
      const recovered = await recover()
      expect(settlements(recovered)).toEqual(['in-doubt'])
      expect(runs).toHaveLength(1)
      expect(recovered.recorder.of('warning').map(({ code }) => code)).toContain('IN_DOUBT')
      expect(recovered.outcome.status).toBe('completed')
    },
  )

  it.each([
    [{ happened: 'yes', output: 'found' }, 'ok', 1],
    [{ happened: 'no' }, 'ok', 2],
    [{ happened: 'unknown' }, 'in-doubt', 1],
  ] as const)('asks the tool what became of a write: %o', async (found, settlement, ran) => {
    const { recover, runs } = await crashed({ effect: 'write', reconcile: async () => found })
    expect(settlements(await recover())).toEqual([settlement])
    expect(runs).toHaveLength(ran)
  })

  it('counts a reconciliation that fails as not knowing', async () => {
    const reconcile = () => Promise.reject(new Error('down'))
    const { recover } = await crashed({ effect: 'write', reconcile })
    expect(settlements(await recover())).toEqual(['in-doubt'])
  })

  it('leaves a call in doubt whose tool is gone or declares something else now', async () => {
    const gone = await crashed({ effect: 'idempotent' })
    expect(settlements(await gone.recover([]))).toEqual(['in-doubt'])
    const changed = await crashed({ effect: 'idempotent' })
    expect(settlements(await changed.recover([changed.work({ effect: 'write' })]))).toEqual([
      'in-doubt',
    ])
  })

  it('does not doubt a call that is known not to have happened and cannot run again', async () => {
    const reconcile = async () => ({ happened: 'no' }) as const
    const { recover, runs, work } = await crashed({ effect: 'write', reconcile })
    const inputSchema = z.object({ q: z.string() })
    const changed = work({ effect: 'write', reconcile, inputSchema })
    expect(settlements(await recover([changed]))).toEqual(['aborted'])
    expect(runs).toHaveLength(1)
  })

  it.each([
    ['writes', { effect: 'write' }],
    ['says nothing of what it does', { effect: undefined }],
    ['needs leave', { effect: 'read', approval: true }],
    ['takes other arguments', { effect: 'read', inputSchema: z.object({ q: z.string() }) }],
  ] as [string, Partial<ToolOptions>][])(
    'does not start a read again whose tool %s by now',
    async (_, changed) => {
      const { recover, runs, work } = await crashed({ effect: 'read' })
      expect(settlements(await recover([work(changed)]))).toEqual(['abandoned'])
      expect(runs).toHaveLength(1)
    },
  )

  it('never runs what was refused before the crash', async () => {
    const { recover, runs } = await crashed({ effect: 'read' }, [
      ...Array.from({ length: 6 }, (_, n) => ({ call: 'work', id: `c${n}` })),
      { call: 'work', args: { q: 5 }, id: 'bad' },
    ])
    const ranBefore = runs.length
    const { outcome } = await recover()
    expect(outcome.toolCalls.map(({ id }) => id)).toEqual(['c0', 'c1', 'c2', 'c3'])
    expect(runs.slice(ranBefore).sort()).toEqual(['k/c0', 'k/c1', 'k/c2', 'k/c3'])
  })

  it('does nothing for a conversation that ended well but give its answer', async () => {
    const store = memoryStore()
    const model = scriptedModel([[{ text: 'the answer' }]])
    const runner = new TurnRunner({ model, store })
    await runner.run({ message: 'go', conversation: 'k' })
    expect(await runner.recover({ conversation: 'k' })).toMatchObject({
      status: 'completed',
      text: 'the answer',
    })
    model.done()
  })

  it.each(['resume', 'recover'] as const)(
    '%s makes no conversation by a slip of its name',
    async (call) => {
      const store = memoryStore()
      const runner = new TurnRunner({ model: scriptedModel([]), store })
      const input = { conversation: 'nope', ...(call === 'resume' && { decisions: [] }) }
      await expect(runner[call](input as never)).rejects.toMatchObject({ code: 'E_NOT_FOUND' })
      expect(await store.conversations()).toEqual([])
    },
  )
})

describe('run, over what an earlier process left', () => {
  it.each([
    ['read', 'abandoned'],
    ['idempotent', 'in-doubt'],
    ['write', 'in-doubt'],
  ] as const)('ends a %s call as %s and runs nothing', async (effect, settlement) => {
    const { recover, runs, store } = await crashed({ effect })
    const recovered = await recover(undefined, 'run')
    expect(settlements(recovered)).toEqual([settlement])
    expect(runs).toHaveLength(1)
    // It ran, and only the process that is gone knew.
    expect(JSON.stringify(recovered.outcome.toolCalls)).not.toContain('not run')
    expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
  })

  it('surfaces a call that a person had changed', async () => {
    const store = memoryStore()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const approve = async () => ({ approve: true, decidedBy: 'ann', args: { q: 'edited' } })
    const dying = dyingStore(
      store,
      (kinds) =>
        kinds.includes('settlement') &&
        kinds.length === 1 + Number(kinds.includes('note')) &&
        kinds[0] === 'settlement',
    )
    const model = scriptedModel([[{ call: 'pay', args: { q: 'asked' }, id: 'p' }]])
    await new TurnRunner({ model, tools: [pay], store: dying, approve }).run({
      message: 'go',
      conversation: 'k',
    })
    const next = scriptedModel([[{ text: 'ok' }]])
    const outcome = await new TurnRunner({ model: next, tools: [pay], store }).recover({
      conversation: 'k',
    })
    expect(outcome.toolCalls).toMatchObject([
      { id: 'p~2', editOf: 'p', args: { q: 'edited' }, settlement: 'in-doubt' },
    ])
    expect(JSON.stringify(next.requests[0]?.items)).toContain('In doubt')
  })
})
