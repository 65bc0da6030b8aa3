/** How long work may keep the event loop to itself. */
const SLICE_MS = 8

/** Lets timers and input have their turn, then goes on. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
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
