// The kit in a browser: a bundler joins a program that runs turns, and no module of Node comes along.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// #region bundle
const { outputFiles, metafile } = await build({
  entryPoints: [fileURLToPath(new URL('browser/program.mjs', import.meta.url))],
  bundle: true,
  splitting: true, // token tables and the search engine stay apart until something asks for them
  format: 'esm',
  platform: 'browser', // takes the portable hash instead of node:crypto
  minify: true,
  metafile: true,
  outdir: 'out',
  write: false,
  logLevel: 'error',
  tsconfigRaw: {}, // a project of your own has no tsconfig that knows our sources
})
// #endregion bundle

const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
const outside = imports.filter(({ external }) => external === true).map(({ path }) => path)
assert.deepEqual(outside, [], 'nothing is left for a server to load')
for (const { text } of outputFiles) {
  assert.doesNotMatch(text, /(?:\bfrom|\bimport|\brequire\()\s*["'(]+node:/)
}

// The bundle works: one turn with a tool, from the built files alone.
const folder = await mkdtemp(join(tmpdir(), 'bobbin-'))
try {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const { path, contents } of outputFiles) {
    await writeFile(join(folder, basename(path)), contents)
  }
  const page = `import { runner } from './program.js'
    const { status, text } = await runner.run({ message: 'What is 20 + 22?' })
    console.log(status, text)`
  await writeFile(join(folder, 'page.js'), page)
  const said = execFileSync(process.execPath, [join(folder, 'page.js')], { encoding: 'utf8' })
  assert.equal(said.trim(), 'completed 42')
} finally {
  await rm(folder, { recursive: true })
}
const size = outputFiles.find(({ path }) => basename(path) === 'program.js')?.contents.length ?? 0
console.log(`The page loads ${Math.round(size / 1024)} KB, and no module of Node.`)
