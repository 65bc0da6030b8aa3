// `npm start`: installs and builds what is missing, then runs the first example.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { inRoot } from './project.mjs'
import { giveUp, runNode } from './run-command.mjs'

await ensureInstalled()
const built = await ensureBuilt()
if (built.code !== 0) giveUp(`${built.output}\nThe build failed: tsc says why above.`)
const { code } = await runNode(inRoot('examples', 'first-turn.mjs'), process.argv.slice(2), {
  show: true,
})
process.exitCode = code
