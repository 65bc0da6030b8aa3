// `npm test`: every check of the project. Arguments go to vitest, as in `npm test -- src/core`.
import { ensureBuilt } from './ensure-built.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { commandFile } from './project.mjs'
import { giveUp, runNode } from './run-command.mjs'
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

/** @type {Step[]} */
const sourceChecks = [
  { name: 'build', wayOut: 'see above', run: ensureBuilt },
  { name: 'format', wayOut: 'run `npm run format`', run: tool('@biomejs/biome', 'biome', 'check') },
  {
    name: 'lint',
    wayOut: 'see above',
    run: tool('oxlint', 'oxlint', '--deny-warnings'),
  },
  { name: 'types', wayOut: 'see above', run: tool('typescript', 'tsc', '--noEmit') },
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
]

/** @type {Step[]} */
const packageChecks = [
  {
    name: 'types of the examples',
    wayOut: 'see above',
    run: tool('typescript', 'tsc', '-p', 'tsconfig.consumers.json'),
  },
  {
    name: 'package fields',
    wayOut: 'see above',
    run: tool('publint', 'publint', '--strict', '--pack', 'npm'),
  },
  {
    name: 'package types',
    wayOut: 'see above',
    run: tool('@arethetypeswrong/cli', 'attw', '--pack', '.', '--profile', 'esm-only'),
  },
]

const started = performance.now()
await ensureInstalled()
await runAll(sourceChecks)
await runAll(packageChecks)
const code = await runVitest('vitest.config.ts', process.argv.slice(2))
if (code !== 0) giveUp(`Tests failed after ${secondsSince(started)}: vitest says which above.`)
process.stdout.write(`All checks passed in ${secondsSince(started)}.\n`)

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
    `${failed.length} of ${steps.length} checks failed, so the later ones did not run:\n${sentences}`,
  )
}

/** @param {number} start */
function secondsSince(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`
}
