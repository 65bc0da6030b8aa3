import { cpuTime } from './cpu-time.ts'

/** CPU milliseconds of the piece of work on the machine on which the bounds of tests were set. */
const USUAL_MS = 5.5
const PIECES = 5

// Larger than a core's own caches: who shares them with others is slower at this too.
const BYTES = Uint8Array.from({ length: 4 * 1024 * 1024 }, (_, i) => (i * 7_919) >> 3)

function pieceOfWork(): number {
  let state = 1
  let odd = 0
  for (let i = 0; i < BYTES.length; i++) {
    state = (Math.imul(state, 31) + (BYTES[i] as number)) | 0
    if ((state & 0x100) !== 0) odd++
  }
  return odd
}

// Compiled before anybody measures by it.
for (let i = 0; i < 20; i++) pieceOfWork()

/**
 * How many times slower this machine is just now than the one on which bounds were set, 1 if it is not: what
 * times that were taken are to be divided by. It makes nothing that a collector would have to clear away.
 */
export function slowness(): number {
  const times = Array.from({ length: PIECES }, () => {
    const start = cpuTime()
    pieceOfWork()
    return cpuTime() - start
  })
  // The median: one hiccup in a few milliseconds says nothing about the seconds in between.
  const usual = times.sort((a, b) => a - b)[PIECES >> 1] as number
  return Math.max(1, usual / USUAL_MS)
}
