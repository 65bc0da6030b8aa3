/** Where a command writes; a process's stream, or a test's. */
export interface Output {
  write(data: string | Uint8Array): unknown
  /** There on streams of a process: tells when they take more. */
  once?(event: 'drain', listener: () => void): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
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

/** Whether somebody is there to answer. */
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

/** Writes all of it, never faster than it is taken, until somebody stops it. */
export async function writeAll(
  { stdout, signal }: Pick<Io, 'stdout' | 'signal'>,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) {
    if (signal.aborted) return
    if (stdout.write(piece) !== false || stdout.once === undefined) continue
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
