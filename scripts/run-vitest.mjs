import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { commandFile, inRoot, readJson } from './project.mjs'
import { runNode } from './run-command.mjs'

/**
 * Runs vitest with its own output on the terminal, and closes with one plain line of counts.
 *
 * @param {string} config
 * @param {readonly string[]} args
 * @returns {Promise<number>} exit code
 */
export async function runVitest(config, args) {
  mkdirSync(inRoot('.cache'), { recursive: true })
  const report = inRoot('.cache', `${config}.json`)
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { code } = await runNode(
    commandFile('vitest'),
    ['run', '--config', config, ...reporters, ...args],
    { show: true },
  )
  if (existsSync(report)) process.stdout.write(`${countsOf(readJson(report))}\n`)
  return code
}

/** @param {{ numPassedTests: number, numFailedTests: number, numPendingTests: number }} report */
function countsOf({ numPassedTests, numFailedTests, numPendingTests }) {
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''
  return `${numPassedTests} passed, ${numFailedTests} failed${skipped}`
}
