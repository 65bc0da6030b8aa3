import { afterEach, describe, expect, it, vi } from 'vitest'
import { endOf, FAILURES, HANGS, image } from '../../../test/hostile-parts.ts'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { BobbinError } from '../../core/error/error.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'

/** A store of an application's own: some of its methods fail, in words of its own. */
function faultyStore(faults: Partial<Store>) {
  const store = memoryStore()
  return { ...store, ...faults } as Store
}

const down = () => Promise.reject(new Error('the database is down'))
const downAtOnce = () => {
  throw new Error('the database is down')
}

describe('a store that fails', () => {
  afterEach(() => vi.useRealTimers())

  it.each([
    ['acquired', { acquire: down }],
    ['acquired, at once', { acquire: downAtOnce }],
    ['asked for its key', { key: down }],
    ['written to', { append: down }],
  ] as [string, Partial<Store>][])('when it is %s ends the turn as failed', async (_, faults) => {
    const model = scriptedModel([])
    const outcome = await new TurnRunner({ model, store: faultyStore(faults) }).run({
      message: 'go',
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: { code: 'STORE_FAILED', message: 'the database is down' },
    })
    model.done()
  })

  it('when the conversation is deleted while a turn opens it ends that turn as failed', async () => {
    const memory = memoryStore()
    const acquire: Store['acquire'] = async (id, options) => {
      const lease = await memory.acquire(id, options)
      await memory.delete(id)
      return lease
    }
    const model = scriptedModel([])
    const runner = new TurnRunner({ model, store: { ...memory, acquire } })
    expect(await runner.run({ message: 'go', conversation: 'c' })).toMatchObject({
      status: 'failed',
      reason: { code: 'STORE_FAILED', message: expect.stringContaining('deleted') },
    })
  })

  describe.each(FAILURES)('and then %s', (_, misdeed) => {
    const spoiled = (durable: boolean, isDue: (kinds: readonly string[]) => boolean): Store => {
      const store = memoryStore()
      const append: Store['append'] = (...given) =>
        isDue(given[2].map(({ kind }) => kind)) ? misdeed() : store.append(...given)
      return { ...store, durable, append }
    }
    const spool = { ...memorySpool(), durable: true }
    const tools = [sampleTool('t', () => 'done', { effect: 'idempotent' })]

    it('ends the turn as failed when a call is to begin: it does not run', async () => {
      const store = spoiled(false, (kinds) => kinds.includes('intent'))
      expect(await endOf({ store, tools })).toEqual(['failed', 'STORE_FAILED'])
    })

    it.each([1, 3])('ends the turn as failed when %i calls have ended', async (calls) => {
      const parts = Array.from({ length: calls }, (__, at) => ({ call: 't', args: { q: `${at}` } }))
      const store = spoiled(true, (kinds) => kinds.includes('settlement'))
      const options = { store, spool, tools, model: scriptedModel([parts]) }
      expect(await endOf(options)).toEqual(['failed', 'STORE_FAILED', 'a call was left open'])
    })

    it('ends nothing when the end of the turn is to be written', async () => {
      const store = spoiled(false, (kinds) => kinds.includes('turn-end'))
      expect(await endOf({ store, tools })).toEqual(['completed', 'ok'])
    })
  })

  it('when it is released ends nothing', async () => {
    const model = scriptedModel([[{ text: 'done' }]])
    const store = faultyStore({ release: downAtOnce })
    const outcome = await new TurnRunner({ model, store }).run({ message: 'go' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'done' })
  })

  it('when it is asked for the gates of a turn fails that turn once, and loses none', async () => {
    let isDown = true
    const memory = memoryStore()
    const openGates: Store['openGates'] = (id) => (isDown ? down() : memory.openGates(id))
    const store = { ...memory, openGates }
    const model = scriptedModel([[{ call: 'pay' }], [{ text: 'done' }]])
    const tools = [sampleTool('pay', () => 'paid', { approval: true })]
    const runner = new TurnRunner({ model, store, tools })
    const outcome = await runner.run({ message: 'go', conversation: 'c' })
    expect(outcome.status).toBe('failed')
    expect(outcome.reason).toMatchObject({ code: 'STORE_FAILED', message: 'the database is down' })
    expect(await store.count({ conversation: 'c', kind: 'turn-end' })).toBe(1)
    isDown = false
    const [gate] = await store.openGates('c')
    const decisions = [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann' }]
    expect(await runner.resume({ conversation: 'c', decisions })).toMatchObject({
      status: 'completed',
      toolCalls: [{ settlement: 'ok' }],
    })
  })

  it.each([
    ['has passed to another runner', new BobbinError('E_STALE_RUNNER', 'Taken.', {} as never)],
    ['was deleted', new BobbinError('E_NOT_FOUND', 'Gone.', { what: 'conversation', id: 'c' })],
  ])('when the conversation %s ends the turn as failed', async (loss, lost) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const store = faultyStore({ renew: () => Promise.reject(lost) })
    const model = scriptedModel([[{ call: 'wait' }]])
    const started = byHand()
    const wait = sampleTool('wait', () => {
      started.resolve()
      return byHand<string>().promise
    })
    const input = { message: 'go', conversation: 'c' }
    const turn = new TurnRunner({ model, store, tools: [wait] }).run(input)
    await started.promise
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await turn).toMatchObject({
      status: 'failed',
      reason: { code: 'STORE_FAILED', message: expect.stringContaining(loss) },
      toolCalls: [{ settlement: 'aborted' }],
    })
  })

  it.each([
    ['has passed', (store: Store) => store.acquire('c', { owner: 'another', force: true })],
    ['was deleted', (store: Store) => store.delete('c')],
  ])('when the conversation %s starts no call that still waits', async (loss, strike) => {
    const store = memoryStore()
    const paid: string[] = []
    const pay = async ({ q = '' }) => {
      paid.push(q)
      if (q === 'first') await strike(store)
      return 'paid'
    }
    const tools = [sampleTool('pay', pay, { effect: 'write', trust: 'first-party' })]
    const asked = ['first', 'second', 'third'].map((q) => ({ call: 'pay', args: { q } }))
    const model = scriptedModel([asked])
    const runner = new TurnRunner({ model, store, tools, concurrency: 1 })
    expect(await runner.run({ message: 'go', conversation: 'c' })).toMatchObject({
      status: 'failed',
      reason: { code: 'STORE_FAILED', message: expect.stringContaining(loss) },
    })
    expect(paid).toEqual(['first'])
  })

  it('when it is shown a sign of life does no harm', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const until = byHand()
    const model = scriptedModel([{ until: until.promise, parts: [{ text: 'done' }] }])
    let beats = 0
    const renew = () => {
      beats++
      throw new Error('the database is down')
    }
    const turn = new TurnRunner({ model, store: faultyStore({ renew }) }).run({ message: 'go' })
    await vi.advanceTimersByTimeAsync(60_000)
    until.resolve()
    expect(await turn).toMatchObject({ status: 'completed', text: 'done' })
    expect(beats).toBeGreaterThan(1)
  })
})

describe('a spool that fails', () => {
  it.each(FAILURES)(
    'ends the turn as failed when an attachment comes: it %s',
    async (_, misdeed) => {
      const spool = { ...memorySpool(), write: misdeed }
      const end = await endOf({ spool, model: scriptedModel([]) }, { attachments: [image()] })
      expect(end).toEqual(['failed', 'STORE_FAILED'])
    },
  )

  it.each(HANGS)('holds up no turn that is cut off: it %s', async (_, misdeed) => {
    const options = { spool: { ...memorySpool(), write: misdeed }, limits: { timeMs: 20 } }
    const input = { attachments: [image()] }
    expect(await endOf(options, input)).toEqual(['stopped', 'MAX_TIME'])
  })
})
