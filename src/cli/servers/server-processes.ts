import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'

/** Where the processes go that an opening starts: the SDK starts more than it shows. */
const opening = new AsyncLocalStorage<ServerProcesses>()
const alive = new Set<ChildProcess>()

/** How much of what a server writes is kept. */
const MAX_KEPT = 2_000

/** The processes of one server, from their very start. */
export class ServerProcesses {
  readonly #outputs: string[] = []

  /** Opens the server. What it starts ends with this process, even if the opening never ends. */
  run<T>(open: () => Promise<T>): Promise<T> {
    watch()
    return opening.run(this, open)
  }

  add(child: ChildProcess): void {
    alive.add(child)
    child.once('close', () => alive.delete(child))
    const place = this.#outputs.push('') - 1
    child.once('spawn', () =>
      child.stdout?.on('data', (chunk: Uint8Array) => {
        const before = this.#outputs[place] ?? ''
        if (before.length >= MAX_KEPT) return
        this.#outputs[place] = (before + new TextDecoder().decode(chunk)).slice(0, MAX_KEPT)
      }),
    )
  }

  /** The first line on standard output that is not a message of the protocol. */
  strayLine(): string | undefined {
    const lines = this.#outputs.flatMap((text) => text.split('\n'))
    return lines.find((line) => line.trim() !== '' && !line.includes('"jsonrpc"'))
  }
}

let isWatching = false

function watch(): void {
  if (isWatching) return
  isWatching = true
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess }
    opening.getStore()?.add(child)
  })
  process.once('exit', endServers)
}

/** How long a server has between the friendly signal and the other. */
const GRACE_MS = 300

/** A second Ctrl-C ends this process at once. It leaves no server behind, even one that ignores signals. */
function endServers(): void {
  const left = [...alive].filter((child) => child.kill())
  if (left.length === 0) return
  // A process that exits can wait in no other way.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, GRACE_MS)
  for (const child of left) child.kill('SIGKILL')
}
