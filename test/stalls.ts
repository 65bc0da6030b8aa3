import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { cpuTime } from './cpu-time.ts'

/** What was seen of some work, in milliseconds. */
export interface Stalls<T> {
  readonly result: T
  /** CPU time. */
  readonly took: number
  /** The longest time without a turn of the event loop. */
  readonly stall: number
  /** The same without what the collector took of it: values that are held for a caller keep it busy. */
  readonly ownStall: number
}

/** Shorter waits between two turns of the timer are of no interest. */
const GAP_MS = 10

/**
 * What some work took in CPU time, and how long it kept the event loop at most. A stall counts the lesser of time and
 * CPU time: on a busy machine the one has waits in it, and the other has the collector's threads.
 */
export async function stalls<T>(act: () => Promise<T>): Promise<Stalls<T>> {
  const gaps: { readonly from: number; readonly to: number; readonly length: number }[] = []
  const collections: PerformanceEntry[] = []
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  let stall = 0
  let last = { cpu: cpuTime(), time: performance.now() }
  const turn = () => {
    const now = { cpu: cpuTime(), time: performance.now() }
    const length = Math.min(now.cpu - last.cpu, now.time - last.time)
    stall = Math.max(stall, length)
    if (length > GAP_MS) gaps.push({ from: last.time, to: now.time, length })
    last = now
  }
  const timer = setInterval(turn, 1)
  const start = cpuTime()
  try {
    const result = await act()
    const took = cpuTime() - start
    turn()
    // Collections are reported some turns later.
    await new Promise((resolve) => setTimeout(resolve, 50))
    collections.push(...observer.takeRecords())
    const own = gaps.map(({ from, to, length }) => {
      const within = collections.filter((gc) => gc.startTime >= from && gc.startTime < to)
      return length - within.reduce((sum, gc) => sum + gc.duration, 0)
    })
    return { result, took, stall, ownStall: Math.max(0, ...own) }
  } finally {
    clearInterval(timer)
    observer.disconnect()
  }
}
