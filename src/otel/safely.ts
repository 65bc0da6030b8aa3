/** Runs code of an SDK or of an application's exporter: what it throws must not end a turn. */
export function safely<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
