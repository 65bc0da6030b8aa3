import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** One node of an engine. */
export interface RestateNode {
  /** Where clients ask. */
  readonly ingress: string
  readonly admin: string
  /** The port of the ingress. */
  readonly port: number
  readonly isUp: boolean
  kill(): Promise<void>
  start(): Promise<void>
}

/** An engine on loopback, in a temporary folder. */
export interface RestateServer {
  readonly nodes: readonly RestateNode[]
  /** Tells the engine where a worker is, and waits until every node knows the agent. */
  register(url: string, agent: string): Promise<void>
  /** Ends everything and deletes its files. */
  remove(): Promise<void>
}

/** Starts an engine of `size` nodes; with more than one, every entry is stored twice. */
export async function restateServer(size = 1): Promise<RestateServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-restate-'))
  const ports: number[] = []
  for (let i = 0; i < size * 3; i++) ports.push(await freePort())
  const fabric = ports.slice(0, size).map((port) => `http://127.0.0.1:${port}/`)
  const running = new Set<ChildProcess>()
  const nodes = Array.from({ length: size }, (_, i): RestateNode => {
    const [bind = 0, ingressPort = 0, adminPort = 0] = [
      ports[i],
      ports[size + i],
      ports[2 * size + i],
    ]
    const ingress = `http://127.0.0.1:${ingressPort}`
    const admin = `http://127.0.0.1:${adminPort}`
    let child: ChildProcess | undefined
    return {
      ingress,
      admin,
      port: ingressPort,
      get isUp() {
        return child !== undefined && running.has(child)
      },
      async start() {
        child = spawn(binary(), ['--no-logo', '--log-filter', 'error'], {
          cwd: folder,
          stdio: 'ignore',
          env: {
            PATH: process.env['PATH'],
            RESTATE_DISABLE_TELEMETRY: 'true',
            RESTATE_LISTEN_MODE: 'tcp',
            RESTATE_BIND_IP: '127.0.0.1',
            RESTATE_BIND_PORT: String(bind),
            RESTATE_ADVERTISED_ADDRESS: fabric[i],
            RESTATE_INGRESS__BIND_PORT: String(ingressPort),
            RESTATE_ADMIN__BIND_PORT: String(adminPort),
            RESTATE_NODE_NAME: `node-${i}`,
            RESTATE_CLUSTER_NAME: 'bobbin',
            RESTATE_BASE_DIR: join(folder, `node-${i}`),
            RESTATE_AUTO_PROVISION: String(i === 0),
            RESTATE_DEFAULT_NUM_PARTITIONS: '4',
            RESTATE_DEFAULT_REPLICATION: String(Math.min(size, 2)),
            RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(fabric),
            RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256 MiB',
          },
        })
        running.add(child)
        await untilHealthy(`${admin}/health`)
        await untilHealthy(`${ingress}/restate/health`)
      },
      async kill() {
        if (child === undefined) return
        running.delete(child)
        await killed(child)
      },
    }
  })
  const remove = async () => {
    await Promise.all([...running].map(killed))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await Promise.all(nodes.map((node) => node.start()))
  } catch (error) {
    await remove()
    throw error
  }
  return {
    nodes,
    remove,
    async register(url, agent) {
      const [node] = nodes
      const response = await fetch(`${node?.admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri: url, force: true }),
      })
      if (!response.ok) throw new Error(`The worker was not registered: ${await response.text()}`)
      for (const { ingress } of nodes) await untilKnown(`${ingress}/${agent}/nobody/status`)
    },
  }
}

/** The program inside the package of this platform. */
function binary(): string {
  const require = createRequire(import.meta.url)
  const from = createRequire(require.resolve('@restatedev/restate-server/package.json'))
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
  return from.resolve(`${name}/bin/restate-server`)
}

async function untilHealthy(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`The engine did not start: ${url}`)
}

async function untilKnown(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { status } = await fetch(url, { method: 'POST' })
    if (status !== 404) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`The agent is not known: ${url}`)
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
