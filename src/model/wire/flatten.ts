/**
 * Gives the members of batches one by one. An async generator would pay several promises for each of
 * them, which in a fast stream costs more than reading the event does.
 */
export function flatten<T>(
  batches: AsyncGenerator<readonly T[], void, undefined>,
): AsyncIterableIterator<T, void, undefined> {
  let batch: readonly T[] = []
  let at = 0
  // Calls may overlap: each waits for the one before it, so that none skips a batch or ends early.
  let pulling: Promise<unknown> | undefined

  async function pull(): Promise<IteratorResult<T, void>> {
    for (;;) {
      if (at < batch.length) return { done: false, value: batch[at++] as T }
      const next = await batches.next()
      if (next.done) return { done: true, value: undefined }
      batch = next.value
      at = 0
    }
  }

  return {
    next() {
      if (pulling === undefined && at < batch.length) {
        return Promise.resolve({ done: false, value: batch[at++] as T })
      }
      const mine = pulling === undefined ? pull() : pulling.then(pull)
      // The caller of `next` gets the error; this copy never fails.
      const release = () => {
        if (pulling === settled) pulling = undefined
      }
      const settled = mine.then(release, release)
      pulling = settled
      return mine
    },
    async return() {
      batch = []
      await batches.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
