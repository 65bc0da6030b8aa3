import { type ChildProcess, spawn } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { inRoot } from '../../scripts/project.mjs'

/** Counts what handlers in other processes did. */
export interface Effects {
  readonly url: string
  /** How often `what` was done for `key`. */
  count(what: string, key: string): number
  /** Everything that was done, as `what/key`. */
  readonly done: ReadonlyMap<string, number>
  /** Resolves with the process that did it. */
  until(what: string, key: string): Promise<number>
  close(): void
}

export async function effectsServer(): Promise<Effects> {
  const done = new Map<string, number>()
  const by = new Map<string, number>()
  const server = createHttpServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    done.set(name, (done.get(name) ?? 0) + 1)
    by.set(name, Number(request.headers['x-process']))
    response.end()
  })
  const port = await listening(server)
  const count = (what: string, key: string) => done.get(`${what}/${key}`) ?? 0
  return {
    url: `http://127.0.0.1:${port}`,
    done,
    count,
    async until(what, key) {
      for (let i = 0; i < 1000 && count(what, key) === 0; i++) await pause(20)
      if (count(what, key) === 0) throw new Error(`${what} ${key} was not done`)
      return by.get(`${what}/${key}`) ?? 0
    },
    close: () => server.close(),
  }
}

/** A worker in a process of its own. */
export interface Worker {
  readonly port: number
  start(more?: Record<string, string>): Promise<void>
  /** Ends it without a word. */
  kill(): Promise<void>
  pause(): void
  unpause(): void
  readonly isUp: boolean
  readonly pid: number | undefined
}

/** A process that runs `bobbin worker`. */
export function workerProcess(
  port: number,
  { args, env }: { readonly args: readonly string[]; readonly env: Record<string, string> },
): Worker {
  let child: ChildProcess | undefined
  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null
  return {
    port,
    get isUp() {
      return isUp()
    },
    get pid() {
      return child?.pid
    },
    async start(more = {}) {
      const agent = inRoot('test/restate/worker-agent.mjs')
      const all = ['worker', agent, '--port', String(port), '--no-register', ...args]
      const spawned = spawn(process.execPath, [inRoot('dist/cli/main.js'), ...all], {
        cwd: inRoot(),
        env: {
          PATH: process.env['PATH'],
          NO_COLOR: '1',
          RESTATE_LOGGING: 'ERROR',
          ...env,
          ...more,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = spawned
      let said = ''
      spawned.stderr.on('data', (data) => (said += String(data)))
      await new Promise<void>((resolve, reject) => {
        spawned.stdout.on('data', (data) => {
          if (String(data).includes('Worker for')) resolve()
        })
        spawned.once('exit', () => reject(new Error(`The worker ended: ${said}`)))
      })
    },
    async kill() {
      const dying = child
      if (dying === undefined || !isUp()) return
      const ended = new Promise((resolve) => dying.once('exit', resolve))
      dying.kill('SIGKILL')
      await ended
    },
    pause: () => void child?.kill('SIGSTOP'),
    unpause: () => void child?.kill('SIGCONT'),
  }
}

/** Something that listens, or does not at the moment. */
export type Target = Pick<Worker, 'port' | 'isUp'>

/** One address for several targets: each connection goes to the next one that is up. */
export async function balancer(workers: readonly Target[]) {
  const open = new Set<Socket>()
  /** Workers that get no new connections. */
  const out = new Set<Target>()
  let turn = 0
  const server = createServer((from) => {
    const up = workers.filter((worker) => worker.isUp && !out.has(worker))
    const worker = up[turn++ % Math.max(1, up.length)]
    if (worker === undefined) {
      from.destroy()
      return
    }
    const to = connect(worker.port, '127.0.0.1')
    for (const socket of [from, to]) {
      open.add(socket)
      socket.once('close', () => open.delete(socket)).on('error', () => undefined)
    }
    from.pipe(to).pipe(from)
    from.once('close', () => to.destroy())
    to.once('close', () => from.destroy())
  })
  const port = await listening(server)
  return {
    url: `http://127.0.0.1:${port}`,
    out,
    /** Breaks every connection. */
    cut() {
      for (const socket of open) socket.destroy()
    },
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function listening(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
}
