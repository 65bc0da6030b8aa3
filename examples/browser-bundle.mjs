// The kit in a browser: a bundler joins a program that runs turns, and no module of Node comes along.
// `node browser-bundle.mjs FOLDER` leaves the page in a folder, for any web server to serve.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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

// The bundle works: one turn with a tool, from the built files alone, in a page or in any other runtime.
const page = `import { runner } from './program.js'
const { status, text } = await runner.run({ message: 'What is 20 + 22?' })
const said = status + ' ' + text
if (globalThis.document) document.body.textContent = said
else console.log(said)`
const [, , wanted] = process.argv
const folder = wanted ?? (await mkdtemp(join(tmpdir(), 'bobbin-')))
await mkdir(folder, { recursive: true })
try {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const { path, contents } of outputFiles) {
    await writeFile(join(folder, basename(path)), contents)
  }
  await writeFile(join(folder, 'page.js'), page)
  const html = '<!doctype html><meta charset="utf-8"><script type="module" src="page.js"></script>'
  await writeFile(join(folder, 'index.html'), html)
  const said = execFileSync(process.execPath, [join(folder, 'page.js')], { encoding: 'utf8' })
  assert.equal(said.trim(), 'completed 42')
} finally {
  if (wanted === undefined) await rm(folder, { recursive: true })
}
const size = outputFiles.find(({ path }) => basename(path) === 'program.js')?.contents.length ?? 0
console.log(`The page loads ${Math.round(size / 1024)} KB, and no module of Node.`)
