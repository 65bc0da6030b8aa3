#!/usr/bin/env node
import { failureOf } from './failure.ts'
import { EXIT } from './io.ts'
import { runCli } from './run-cli.ts'

const abort = new AbortController()
const quiet = new AbortController().signal
/** How long a turn may take to settle when nobody reads what it says. */
const SETTLE_MS = 30_000

// The first signal lets a turn settle what it began; whoever presses twice does not want to wait.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (abort.signal.aborted) process.exit(EXIT.interrupted)
    abort.abort()
  })
}

// Whoever reads our output may stop early, as `head` does. That is no failure of ours, but a turn must
// still settle what it began.
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

// Whatever an agent file left open must not keep the command alive, and nothing written may be lost.
for (const stream of [process.stdout, process.stderr]) {
  await new Promise<void>((resolve) => stream.write('', () => resolve()))
}
process.exit(isUnread ? EXIT.ok : code)
