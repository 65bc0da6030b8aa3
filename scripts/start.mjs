// `npm start`: installs and builds what is missing, then runs a turn on a generated incident. Arguments go
// to `bobbin run`.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { inRoot } from './project.mjs'
import { giveUp, runNode } from './run-command.mjs'

await ensureInstalled()
const built = await ensureBuilt()
if (built.code !== 0) giveUp(`${built.output}\nThe build failed: tsc says why above.`)
// Ctrl-C reaches the turn as well; we wait until it has settled its calls.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => {})
// Without a terminal, approve: the incident is generated, so the approval changes nothing outside.
const canAsk = process.stdin.isTTY && process.stdout.isTTY && !process.env['CI']
const agent = ['--agent', 'examples/incident/agent.ts', ...(canAsk ? [] : ['--yes'])]
const args = ['run', ...agent, ...process.argv.slice(2)]
const { code } = await runNode(inRoot('dist', 'cli', 'main.js'), args, { show: true, ask: true })
process.exitCode = code
