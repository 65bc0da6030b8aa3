// `npm run build`: brings dist/ up to date.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { giveUp } from './run-command.mjs'

await ensureInstalled()
const { code, output } = await ensureBuilt()
if (code !== 0) giveUp(`${output}\nThe build failed: tsc says why above.`)
