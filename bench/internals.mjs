// Parts of the package that it does not offer, compiled from the source: the build joins them into the
// entries, where they have no name any more.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Imports what `program`, a module of re-exports with paths from this folder, exports. */
export async function internals(program) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(root, 'bench'), loader: 'ts' },
    alias: { '#hash': join(root, 'src/core/hash.node.ts') },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-bench-'))
  try {
    const file = join(folder, 'internals.mjs')
    await writeFile(file, outputFiles[0].contents)
    return await import(pathToFileURL(file).href)
  } finally {
    await rm(folder, { recursive: true })
  }
}
