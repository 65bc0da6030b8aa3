import { Writable } from 'node:stream'
import type { Io } from '../terminal/io.ts'

/** Standard output for a protocol. */
export interface ProtocolOutput {
  readonly stream: Writable
  /** Gives standard output back. */
  release(): void
}

/**
 * Takes standard output for a protocol alone: what tools and packages print there, with `console.log` for instance,
 * goes to standard error, where it cannot break a message.
 */
export function protocolOutput({ stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>): ProtocolOutput {
  const target = stdout.stream
  const write = target.write.bind(target)
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      // The reader sets the pace.
      if (write(chunk) !== false || target.once === undefined) done()
      else target.once('drain', () => done())
    },
  })
  if (target !== process.stdout) return { stream, release: () => undefined }
  const own = process.stdout.write
  process.stdout.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    stderr.write(typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk))
    const done = rest.find((each) => typeof each === 'function') as (() => void) | undefined
    done?.()
    return true
  }
  return {
    stream,
    release: () => {
      process.stdout.write = own
    },
  }
}
