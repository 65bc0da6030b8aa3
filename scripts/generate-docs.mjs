// `npm run docs`: fills the samples of the documents from their files and writes the references.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pagesAsTheyShouldBe, readPage } from './docs/pages.mjs'
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { inRoot } from './project.mjs'
import { giveUp } from './run-command.mjs'

await ensureInstalled()
const built = await ensureBuilt()
if (built.code !== 0) giveUp(`${built.output}\nThe build failed: tsc says why above.`)

const pages = pagesAsTheyShouldBe()
mkdirSync(inRoot('docs', 'api'), { recursive: true })
for (const file of readdirSync(inRoot('docs', 'api'))) {
  if (!pages.has(`docs/api/${file}`)) rmSync(inRoot('docs', 'api', file))
}
for (const [path, text] of pages) {
  if (existsSync(inRoot(path)) && readPage(path) === text) continue
  mkdirSync(dirname(inRoot(path)), { recursive: true })
  writeFileSync(inRoot(path), text)
  process.stdout.write(`wrote ${path}\n`)
}
