import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../scripts/ensure-built.mjs'
import { inRoot } from '../scripts/project.mjs'

/** Kilobytes of 1,000 bytes. */
const PAGES: readonly (readonly [line: string, names: string, limit: number])[] = [
  ["import { ToolCall, Message, checksum } from 'bobbin-adk'", 'ToolCall, Message, checksum', 60],
  // All seven protocols at once, about 11 kB each.
  ["import { wire } from 'bobbin-adk/wire'", 'wire', 90],
]

beforeAll(async () => {
  const { code, output } = await ensureBuilt()
  if (code !== 0) throw new Error(output)
}, 120_000)

/** Bundles a program for a browser and gives what a page loads at once, compressed, in kilobytes. */
async function loadedAtOnce(program: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: inRoot(), sourcefile: 'page.js' },
    outdir: inRoot('.cache', 'bundle-size'),
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    // The project's own settings resolve `#hash` to the file for Node.
    tsconfigRaw: {},
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const paths = staticGraph(metafile, 'page.js')
  const files = outputFiles.filter(({ path }) => paths.some((each) => path === inRoot(each)))
  return files.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1_000
}

/** The output of an entry and everything that it imports, without what `import()` loads later. */
function staticGraph({ outputs }: Metafile, entry: string): string[] {
  const [first] = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint === entry)
  const found = new Set<string>(first === undefined ? [] : [first[0]])
  for (const path of found) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') found.add(next)
    }
  }
  return [...found]
}

describe('a page', () => {
  it.each(PAGES)('with %j and %s loads at most %i kB at once', async (line, names, limit) => {
    const size = await loadedAtOnce(`${line}\nconsole.log(${names})`)
    expect(size).toBeGreaterThan(10)
    expect(size).toBeLessThan(limit)
  })
})
