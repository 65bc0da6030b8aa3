#!/usr/bin/env node
import { failureOf } from './command/failure.ts'
import { runCli } from './run-cli.ts'
import { EXIT } from './terminal/io.ts'

const abort = new AbortController()
const quiet = new AbortController().signal
/** How long a turn may take to settle after its reader has gone. */
const SETTLE_MS = 30_000

// The first signal lets a turn settle what it began; the second ends the process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (abort.signal.aborted) process.exit(EXIT.interrupted)
    abort.abort()
  })
}

// A reader may stop early, as `head` does. The command has not failed then, but a turn must still settle
// what it began.
let isUnread = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') {
    isUnread = true
    abort.abort()
    setTimeout(() => process.exit(EXIT.ok), SETTLE_MS).unref()
    return
  }
  process.stderr.write(`bobbin: the output cannot be written: ${failureOf(error, quiet).message}\n`)
  process.exit(EXIT.failed)
})

const code = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  signal: abort.signal,
})

// Handles that an agent file left open must not keep the command alive. All output is flushed first.
for (const stream of [process.stdout, process.stderr]) {
  await new Promise<void>((resolve) => stream.write('', () => resolve()))
}
process.exit(isUnread ? EXIT.ok : code)
