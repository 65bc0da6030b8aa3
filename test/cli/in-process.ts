import { Readable } from 'node:stream'
import { runCli } from '../../src/cli/run-cli.ts'
import type { Io } from '../../src/cli/terminal/io.ts'

/** What a command line wrote and how it ended. */
export interface CliRun {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** Runs a command line in this process, as in a pipe. */
export async function cli(
  args: readonly string[],
  options: { cwd: string; env?: Io['env']; stdin?: string; signal?: AbortSignal },
): Promise<CliRun> {
  let stdout = ''
  let stderr = ''
  const code = await runCli(args, {
    stdout: { write: (data) => (stdout += textOf(data)) },
    stderr: { write: (data) => (stderr += textOf(data)) },
    stdin: Readable.from(options.stdin === undefined ? [] : [options.stdin]) as Io['stdin'],
    env: options.env ?? {},
    cwd: options.cwd,
    signal: options.signal ?? new AbortController().signal,
  })
  return { stdout, stderr, code }
}

const textOf = (data: string | Uint8Array) =>
  typeof data === 'string' ? data : Buffer.from(data).toString()
