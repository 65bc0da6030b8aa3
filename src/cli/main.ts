#!/usr/bin/env node
import { EXIT } from './io.ts'
import { runCli } from './run-cli.ts'

const abort = new AbortController()

// The first signal lets a turn settle what it began; whoever presses twice does not want to wait.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (abort.signal.aborted) process.exit(EXIT.interrupted)
    abort.abort()
  })
}

// Whoever reads our output may stop early, as `head` does; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed)
})

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  signal: abort.signal,
})
