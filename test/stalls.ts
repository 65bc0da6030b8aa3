import { cpuTime } from './cpu-time.ts'

/**
 * What some work took in CPU time, and how long it kept the event loop at most, in milliseconds. A stall counts the
 * lesser of time and CPU time: on a busy machine the one has waits in it, and the other has the collector's threads.
 */
export async function stalls<T>(
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly took: number; readonly stall: number }> {
  let stall = 0
  let last = { cpu: cpuTime(), time: performance.now() }
  const turn = () => {
    const now = { cpu: cpuTime(), time: performance.now() }
    stall = Math.max(stall, Math.min(now.cpu - last.cpu, now.time - last.time))
    last = now
  }
  const timer = setInterval(turn, 1)
  const start = cpuTime()
  try {
    const result = await act()
    const took = cpuTime() - start
    turn()
    return { result, took, stall }
  } finally {
    clearInterval(timer)
  }
}
