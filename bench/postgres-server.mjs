import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The server of the tests. It finds its files from a folder right under the root. */
export async function startServer() {
  const outfile = join(root, '.cache', 'bench-embedded-server.mjs')
  const entryPoints = [join(root, 'test/postgres/embedded-server.ts')]
  const shared = { bundle: true, format: 'esm', platform: 'node', packages: 'external' }
  await build({ ...shared, entryPoints, outfile })
  const { embeddedServer } = await import(pathToFileURL(outfile).href)
  return embeddedServer()
}
