/** Goes on with a value: at once where it is there, else when it is. */
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
