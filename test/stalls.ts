import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { cpuTime } from './cpu-time.ts'
import { slowness } from './yardstick.ts'

/** What was seen of some work, in milliseconds as they would be on a machine that is not slow or busy. */
export interface Stalls<T> {
  readonly result: T
  readonly took: number
  /** The longest time without a turn of the event loop. */
  readonly stall: number
  /** The same without what the collector took of it: values that are held for a caller keep it busy. */
  readonly ownStall: number
}

/** Shorter waits between two turns of the timer are of no interest. */
const GAP_MS = 10

/**
 * How long some work took, and how long it kept the event loop at most. What counts is the lesser of time and CPU
 * time: on a busy machine the one has waits in it, and the other has the collector's threads. A machine that is
 * slow before or afterwards was slow in between, and what was seen is divided by that.
 */
export async function stalls<T>(act: () => Promise<T>): Promise<Stalls<T>> {
  const gaps: { readonly from: number; readonly to: number; readonly length: number }[] = []
  const collections: PerformanceEntry[] = []
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const before = slowness()
  let stall = 0
  let last = moment()
  const turn = () => {
    const now = moment()
    const length = lesser(last, now)
    stall = Math.max(stall, length)
    if (length > GAP_MS) gaps.push({ from: last.time, to: now.time, length })
    last = now
  }
  const timer = setInterval(turn, 1)
  const start = moment()
  try {
    const result = await act()
    const took = lesser(start, moment())
    turn()
    // Collections are reported some turns later.
    await new Promise((resolve) => setTimeout(resolve, 50))
    collections.push(...observer.takeRecords())
    const own = gaps.map(({ from, to, length }) => {
      const within = collections.filter((gc) => gc.startTime >= from && gc.startTime < to)
      return length - within.reduce((sum, gc) => sum + gc.duration, 0)
    })
    const slow = Math.max(before, slowness())
    const ownStall = Math.max(0, ...own)
    return { result, took: took / slow, stall: stall / slow, ownStall: ownStall / slow }
  } finally {
    clearInterval(timer)
    observer.disconnect()
  }
}

interface Moment {
  readonly cpu: number
  readonly time: number
}

const moment = (): Moment => ({ cpu: cpuTime(), time: performance.now() })

const lesser = (from: Moment, to: Moment) => Math.min(to.cpu - from.cpu, to.time - from.time)
