import { describe, expect, it } from 'vitest'
import { notFound, staleRunner } from '../../store/store-errors.ts'
import { AbortWatch, type CallLimit, interruptionOf } from './cut-off.ts'

describe('interruptionOf', () => {
  it.each([
    ['it has passed to another runner', staleRunner('c', 1, 2), 'passed to another runner'],
    ['it was deleted', notFound('conversation', 'c'), 'was deleted'],
  ])('cuts the turn off when %s', (_, error, message) => {
    const interruption = interruptionOf('c', undefined, 60_000)
    interruption.abortIfLost(error)
    expect(interruption.signal.reason).toBe(error)
    expect(interruption.end()).toMatchObject({
      status: 'failed',
      reason: { code: 'STORE_FAILED', message: expect.stringContaining(message) },
    })
    interruption.clear()
  })

  it.each([
    ['a conversation inside it has passed to another runner', staleRunner('c/call_1', 1, 2)],
    ['a conversation inside it was deleted', notFound('conversation', 'c/call_1')],
    ['a gate is not there', notFound('gate', 'c')],
    ['the store cannot be reached', new Error('down')],
  ])('does nothing when %s', (_, error) => {
    const interruption = interruptionOf('c', undefined, 60_000)
    interruption.abortIfLost(error)
    expect(interruption.signal.aborted).toBe(false)
    interruption.clear()
  })
})

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('the limit of a call', () => {
  const turn = (given?: AbortSignal) => interruptionOf('c', given, 60_000)
  const nameOf = async ({ over }: CallLimit) => (await over).name

  it('ends each call at its own time, in any order', async () => {
    const interruption = turn()
    const ended: string[] = []
    const limits = [60_000, 40, 15].map((ms) => {
      const limit = interruption.limit(ms)
      void limit.over.then(({ message }) => ended.push(message))
      return limit
    })
    await limits[2]?.over
    expect(ended).toEqual(['The call did not end within 15 ms and was given up.'])
    expect(await nameOf(limits[1] as CallLimit)).toBe('TimeoutError')
    expect(limits.map(({ signal }) => signal.aborted)).toEqual([false, true, true])
    for (const limit of limits) limit.clear()
    interruption.clear()
  })

  it('ends every call when the turn is aborted, except those that have ended', async () => {
    const abort = new AbortController()
    const interruption = turn(abort.signal)
    const [gone, one, two] = [1, 2, 3].map(() => interruption.limit(60_000)) as [
      CallLimit,
      CallLimit,
      CallLimit,
    ]
    gone.clear()
    abort.abort()
    expect([await nameOf(one), await nameOf(two)]).toEqual(['AbortError', 'AbortError'])
    expect([gone, one, two].map(({ signal }) => signal.aborted)).toEqual([false, true, true])
    interruption.clear()
  })

  it('keeps the process alive only while the call runs', () => {
    const interruption = turn()
    const before = timers()
    const limits = [interruption.limit(60_000), interruption.limit(60_001)]
    expect(timers()).toBeGreaterThan(before)
    for (const limit of limits) limit.clear()
    expect(timers()).toBe(before)
    interruption.clear()
  })

  it('sets no timer for a time that no timer takes', () => {
    const interruption = turn()
    const before = timers()
    const limit = interruption.limit(2 ** 31)
    expect(timers()).toBe(before)
    limit.clear()
    interruption.clear()
  })
})

describe('AbortWatch', () => {
  it('stops waiting with the reason of the signal', async () => {
    const abort = new AbortController()
    const watch = new AbortWatch(abort.signal)
    const waiting = watch.orAborted(new Promise(() => {}))
    abort.abort('enough')
    await expect(waiting).rejects.toBe('enough')
    await expect(watch.orAborted(new Promise(() => {}))).rejects.toBe('enough')
  })

  it('passes on the result and the failure of the work', async () => {
    const watch = new AbortWatch(new AbortController().signal)
    await expect(watch.orAborted(Promise.resolve(1))).resolves.toBe(1)
    await expect(watch.orAborted(Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})
