/** How long work may keep the event loop to itself. */
const SLICE_MS = 8

/** Work that waits for its turn, in the order in which it came. */
const waiting: (() => void)[] = []

/**
 * Lets timers and input run, then continues. Only one waiting piece of work continues in each turn of the event
 * loop: a hundred short slices in one turn would be a long stall.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) schedule()
  })
}

function schedule(): void {
  if (typeof setImmediate === 'function') setImmediate(giveTurn)
  else setTimeout(giveTurn, 0)
}

function giveTurn(): void {
  const goOn = waiting.shift()
  if (waiting.length > 0) schedule()
  goOn?.()
}

/** Gives a function to call between small steps: it waits for a turn of the event loop when a slice is used up. */
export function pacer(
  now: () => number = () => performance.now(),
): () => Promise<void> | undefined {
  let sliceStart = now()
  return () => {
    if (now() - sliceStart < SLICE_MS) return undefined
    return nextTurn().then(() => {
      sliceStart = now()
    })
  }
}
