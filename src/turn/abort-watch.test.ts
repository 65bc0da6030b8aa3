import { describe, expect, it } from 'vitest'
import { AbortWatch, type Watched } from './abort-watch.ts'

const after = (ms: number, ended: string[], name: string): Watched => ({
  deadline: performance.now() + ms,
  onAbort: () => void ended.push(`${name} aborted`),
  onTimeout: () => void ended.push(`${name} timed out`),
})

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('AbortWatch', () => {
  it('ends each at its own deadline, whatever the order they came in', async () => {
    const watch = new AbortWatch(new AbortController().signal)
    const ended: string[] = []
    const late = after(60_000, ended, 'late')
    const later = after(40, ended, 'later')
    const first = after(15, ended, 'first')
    for (const watched of [late, later, first]) watch.add(watched)
    while (ended.length < 1) await sleep(1)
    expect(performance.now()).toBeGreaterThanOrEqual(first.deadline)
    expect(ended).toEqual(['first timed out'])
    watch.delete(first)
    while (ended.length < 2) await sleep(1)
    expect(performance.now()).toBeGreaterThanOrEqual(later.deadline)
    expect(ended).toEqual(['first timed out', 'later timed out'])
    watch.clear()
  })

  it('ends everything when the signal aborts, and what left nothing', () => {
    const abort = new AbortController()
    const watch = new AbortWatch(abort.signal)
    const ended: string[] = []
    const gone = after(60_000, ended, 'gone')
    const list = [gone, after(60_000, ended, 'a'), after(60_000, ended, 'b')]
    for (const watched of list) watch.add(watched)
    watch.delete(gone)
    abort.abort()
    expect(ended).toEqual(['a aborted', 'b aborted'])
    watch.clear()
  })

  it('keeps the process alive only while something has a deadline, also when added twice', () => {
    const watch = new AbortWatch(new AbortController().signal)
    const before = timers()
    const one = after(60_000, [], 'one')
    const two = after(60_001, [], 'two')
    watch.add(one)
    watch.add(one)
    watch.add(two)
    expect(timers()).toBe(before + 1)
    watch.delete(one)
    expect(timers()).toBe(before + 1)
    watch.delete(two)
    expect(timers()).toBe(before)
    watch.add(two)
    expect(timers()).toBe(before + 1)
    watch.clear()
    expect(timers()).toBe(before)
  })

  it('gives up waiting with the reason of the signal', async () => {
    const abort = new AbortController()
    const watch = new AbortWatch(abort.signal)
    const waiting = watch.orAborted(new Promise(() => {}))
    abort.abort('enough')
    await expect(waiting).rejects.toBe('enough')
    await expect(watch.orAborted(new Promise(() => {}))).rejects.toBe('enough')
  })

  it('hands what fails to whoever may try again', async () => {
    const watch = new AbortWatch(new AbortController().signal)
    const failing = Promise.reject(new Error('no'))
    expect(await watch.orAborted<unknown>(failing, (error) => error)).toMatchObject({
      message: 'no',
    })
    await expect(watch.orAborted(Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})
