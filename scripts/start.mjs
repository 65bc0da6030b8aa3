// `npm start`: installs and builds what is missing, then runs a turn. Arguments go to `bobbin run`.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { inRoot } from './project.mjs'
import { giveUp, runNode } from './run-command.mjs'

await ensureInstalled()
const built = await ensureBuilt()
if (built.code !== 0) giveUp(`${built.output}\nThe build failed: tsc says why above.`)
// Ctrl-C reaches the turn as well; it has something to settle, so we wait for it.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => {})
const args = ['run', '--built-in', ...process.argv.slice(2)]
const { code } = await runNode(inRoot('dist', 'cli', 'main.js'), args, { show: true, ask: true })
process.exitCode = code
