import { unwaited } from '../core/thenable.ts'

/** A stream of Node's, known by its shape: it ends the process when it fails and nobody listens. */
interface NodeStream {
  on(event: 'error', listener: () => void): unknown
  destroy(): unknown
}

/**
 * Keeps a stream that may fail before anybody reads it from ending the process; whoever reads it is told of
 * the failure all the same. A promise that was not waited for is taken for such a stream.
 */
export function holdErrors(data: unknown): void {
  attempt(() => (isNodeStream(data) ? data.on('error', ignore) : unwaited(data)))
}

/** Tells a stream that nobody goes on reading it. Never throws, and waits for nothing. */
export function stopStream(data: unknown): void {
  attempt(() => {
    if (isNodeStream(data)) {
      data.on('error', ignore)
      return data.destroy()
    }
    // A stream of the web, or whoever holds its lock.
    if (has(data, 'cancel')) return data.cancel()
    return has(data, 'next') && has(data, 'return') ? data.return() : undefined
  })
}

/** Tells a stream that nobody will ever read it, also one that gives its iterator only when it is asked. */
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

/** What fails while it is put away is nobody's concern, at once or later. */
function attempt(task: () => unknown): void {
  try {
    unwaited(task())
  } catch {}
}

const ignore = () => {}
