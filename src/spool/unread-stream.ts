import { unwaited } from '../core/thenable.ts'

/** A Node stream, recognised by its shape. Without a listener, its error ends the process. */
interface NodeStream {
  on(event: 'error', listener: () => void): unknown
  destroy(): unknown
}

/**
 * Prevents that a stream ends the process when it fails before it is read; the reader still receives the error. A
 * promise that was not awaited is handled the same way.
 */
export function holdErrors(data: unknown): void {
  attempt(() => (isNodeStream(data) ? data.on('error', ignore) : unwaited(data)))
}

/** Stops a stream that is no longer read. Never throws, and does not wait. */
export function stopStream(data: unknown): void {
  attempt(() => {
    if (isNodeStream(data)) {
      data.on('error', ignore)
      return data.destroy()
    }
    // A web stream, or the reader that holds its lock.
    if (has(data, 'cancel')) return data.cancel()
    return has(data, 'next') && has(data, 'return') ? data.return() : undefined
  })
}

/** Stops a stream that will never be read, also one that has no iterator yet. */
export function letGo(data: unknown): void {
  attempt(() => {
    const isOpen = has(data, 'next') || has(data, 'getReader') || isNodeStream(data)
    if (isOpen || !has(data, Symbol.asyncIterator)) return stopStream(data)
    stopStream(data[Symbol.asyncIterator]())
  })
}

/** Whether something is read piece by piece: a stream of Node's or the web's, or any async iterable. */
export const isStream = (data: object | null): data is object =>
  data !== null && (Symbol.asyncIterator in data || has(data, 'getReader'))

const isNodeStream = (data: unknown): data is NodeStream =>
  has(data, 'destroy') && has(data, 'on') && has(data, 'pipe')

function has<Name extends PropertyKey>(
  data: unknown,
  name: Name,
): data is Record<Name, () => unknown> {
  return typeof (data as Record<Name, unknown> | null | undefined)?.[name] === 'function'
}

/** Errors during the stop are ignored, synchronous or not. */
function attempt(task: () => unknown): void {
  try {
    unwaited(task())
  } catch {}
}

const ignore = () => {}
