/**
 * Goes on with a value: at once where it is there, else when it is. A call passes some twenty places that may
 * have to wait and seldom do, and a wait costs more than most of the steps between them (`npm run bench --
 * turn`). Functions on that way give a promise only where there is something to wait for; those that run for
 * every call write `x instanceof Promise ? x.then(…) : …` out, which spares the function given to this one.
 */
export function andThen<T, R>(
  value: T | Promise<T>,
  goOn: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}

/** Whether a value is waited for by `await`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

/**
 * Gives a value back whose promise, if it is one by a slip, nobody will wait for: a rejection that nobody
 * hears of ends the process.
 */
export function unwaited<T>(value: T): T {
  if (isThenable(value)) value.then(undefined, () => {})
  return value
}
