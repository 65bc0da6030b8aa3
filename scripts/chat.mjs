// `npm run chat`: installs and builds what is missing, then starts the example with a server and a page.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { inRoot } from './project.mjs'
import { giveUp, runNode } from './run-command.mjs'

await ensureInstalled()
const built = await ensureBuilt()
if (built.code !== 0) giveUp(`${built.output}\nThe build failed: tsc says why above.`)
// Ctrl-C reaches the server as well; we wait until it has closed its store.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => {})
const { code } = await runNode(inRoot('examples', 'chat', 'main.mjs'), [], {
  show: true,
  ask: true,
})
process.exitCode = code
