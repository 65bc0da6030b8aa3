// One process that opens a long conversation once, and tells what the way to the first request took.
import { scriptedModel } from './fill.mjs'

const [kit, ...args] = process.argv.slice(2)
const { reopen } = await import(`./${kit}.mjs`)

/** Starts the clock when called; its result stops it. */
function meter() {
  globalThis.gc()
  const [heap, before, start] = [held(), process.cpuUsage(), performance.now()]
  return (items) => {
    const ms = performance.now() - start
    const { user, system } = process.cpuUsage(before)
    // The peak of the process counts what was garbage already; this is what the turn holds.
    globalThis.gc()
    const peak = process.resourceUsage().maxRSS / 1024
    return {
      ms,
      cpuMs: (user + system) / 1000,
      heldMb: (held() - heap) / 1024 ** 2,
      peakMb: peak,
      items,
    }
  }
}

function held() {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

process.send(await reopen(args, meter, scriptedModel))
process.disconnect()
