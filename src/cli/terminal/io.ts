/** A stream of the process, or of a test. */
export interface Stream {
  write(data: string | Uint8Array): unknown
  /** Streams of a process have it: they call the listener when they take more. */
  once?(event: 'drain', listener: () => void): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/** Where a command writes. Every way out but `pass` shows control characters; a terminal obeys only ours. */
export interface Output extends Omit<Stream, 'write'> {
  /** Shows text. It may come from anywhere; the colours of `paint` are obeyed. */
  write(text: string): unknown
  /** Gives content: shown on a terminal, exact in a pipe or a file. */
  data(piece: string | Uint8Array): unknown
  /** Passes on exactly what is given. It must be of our own making. */
  pass(text: string): unknown
  /** What lies below, for a prompt that moves the cursor itself. */
  readonly stream: Stream
}

/** What a process gives to a command line. */
export interface ProcessIo extends Omit<Io, 'stdout' | 'stderr'> {
  readonly stdout: Stream
  readonly stderr: Stream
}

/** Everything a command knows of the world it runs in. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts at the first Ctrl-C; the second ends the process. */
  readonly signal: AbortSignal
}

/** Whether a person can answer questions. */
export const isInteractive = ({ stdin, stdout, env }: Io) =>
  stdin.isTTY === true && stdout.isTTY === true && !env['CI']

/** How commands end, for scripts. */
export const EXIT = {
  ok: 0,
  /** The work was done and found something wrong, or a turn did not complete. */
  failed: 1,
  /** The command line, a file or a setting cannot be used. */
  usage: 2,
  /** A turn waits for a decision. */
  waiting: 3,
  interrupted: 130,
} as const

/** Writes all pieces, no faster than the output takes them, until the signal aborts. */
export async function writeAll(
  { stdout, signal }: Pick<Io, 'stdout' | 'signal'>,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) {
    if (signal.aborted) return
    if (stdout.data(piece) !== false || stdout.once === undefined) continue
    await new Promise<void>((resolve) => {
      const go = () => {
        signal.removeEventListener('abort', go)
        resolve()
      }
      signal.addEventListener('abort', go)
      stdout.once?.('drain', go)
    })
  }
}
