// `npm test`: every check of the project. Arguments go to vitest, as in `npm test -- src/core`.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { commandFile, inRoot } from './project.mjs'
import { giveUp, runNode, runNpm } from './run-command.mjs'
import { runVitest } from './run-vitest.mjs'

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} wayOut what to do when it fails
 * @property {() => Promise<{ code: number, output: string }>} run
 */

/**
 * @param {string} packageName
 * @param {string} command
 * @param {...string} args
 */
const tool =
  (packageName, command, ...args) =>
  () =>
    runNode(commandFile(packageName, command), args)

const started = performance.now()
await ensureInstalled()
const built = ensureBuilt()
const packed = built.then(pack)

/**
 * A check that reads dist/. It fails if the build failed.
 *
 * @param {Step['run']} run
 * @returns {Step['run']}
 */
const afterBuild = (run) => async () =>
  (await built).code === 0 ? run() : { code: 1, output: 'The build failed.' }

/**
 * A check of the tarball that users would get.
 *
 * @param {string} packageName
 * @param {string} command
 * @param {...string} args
 */
const packageTool = (packageName, command, ...args) =>
  afterBuild(async () => {
    const { code, output, stdout } = await packed
    if (code !== 0) return { code, output }
    return tool(packageName, command, ...args, inRoot('.cache', stdout.trim()))()
  })

// The longest first among those that can start, so that both workers are busy to the end.
await runAll([
  { name: 'build', wayOut: 'see above', run: () => built },
  { name: 'types', wayOut: 'see above', run: tool('typescript', 'tsc', '--noEmit') },
  {
    // It knows types, and the examples take theirs from the build.
    name: 'lint',
    wayOut: 'see above',
    run: afterBuild(tool('oxlint', 'oxlint', '--deny-warnings')),
  },
  {
    name: 'package types',
    wayOut: 'see above',
    run: packageTool('@arethetypeswrong/cli', 'attw', '--profile', 'esm-only'),
  },
  {
    name: 'unused files, exports and dependencies',
    wayOut: 'remove what is unused, or say in knip.config.ts why it stays',
    run: tool('knip', 'knip', '--no-progress'),
  },
  {
    name: 'code that only tests use',
    wayOut: 'remove it, or move it beside the tests',
    run: tool('knip', 'knip', '--no-progress', '--production'),
  },
  { name: 'format', wayOut: 'run `npm run format`', run: tool('@biomejs/biome', 'biome', 'check') },
  {
    name: 'types of the examples',
    wayOut: 'see above',
    run: afterBuild(tool('typescript', 'tsc', '-p', 'tsconfig.consumers.json')),
  },
  {
    name: 'package fields',
    wayOut: 'see above',
    run: packageTool('publint', 'publint', '--strict'),
  },
])
const code = await runVitest('vitest.config.ts', process.argv.slice(2))
if (code !== 0) giveUp(`Tests failed after ${secondsSince(started)}: vitest says which above.`)
process.stdout.write(`All checks passed in ${secondsSince(started)}.\n`)

/** Packs dist/ as it is. */
function pack() {
  return runNpm(['pack', '--silent', '--ignore-scripts', '--pack-destination', inRoot('.cache')])
}

/**
 * Runs the steps two at a time, prints what the failing ones say, and ends the process if any failed.
 *
 * @param {readonly Step[]} steps
 */
async function runAll(steps) {
  /** @type {Step[]} */
  const failed = []
  const waiting = steps[Symbol.iterator]()
  const worker = async () => {
    for (const step of waiting) {
      const start = performance.now()
      const result = await step.run()
      const ok = result.code === 0
      process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.name} (${secondsSince(start)})\n`)
      if (ok) continue
      failed.push(step)
      process.stdout.write(`${result.output.trimEnd()}\n\n`)
    }
  }
  await Promise.all([worker(), worker()])
  if (failed.length === 0) return
  const sentences = failed.map((step) => `- ${step.name}: ${step.wayOut}`).join('\n')
  giveUp(
    `${failed.length} of ${steps.length} checks failed, so the tests did not run:\n${sentences}`,
  )
}

/** @param {number} start */
function secondsSince(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
