// `npm run test:deep`: the slow proofs. Arguments go to vitest.
import { ensureBrowser } from './ensure-browser.mjs'
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { giveUp } from './run-command.mjs'
import { runVitest } from './run-vitest.mjs'

await ensureInstalled()
const built = await ensureBuilt()
if (built.code !== 0) giveUp(`${built.output}\nThe build failed: tsc says why above.`)
await ensureBrowser()
const code = await runVitest('vitest.deep.config.ts', process.argv.slice(2))
if (code !== 0) giveUp('Deep tests failed: vitest says which above.')
