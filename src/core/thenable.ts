/** Whether `await` would wait for the value. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

/** Returns the value. If it is a promise by mistake, its rejection is ignored: an unhandled one would end the process. */
export function unwaited<T>(value: T): T {
  if (isThenable(value)) value.then(undefined, () => {})
  return value
}
