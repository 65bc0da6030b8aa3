import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inRoot } from '../../scripts/project.mjs'
import { runNpm } from '../../scripts/run-command.mjs'

/** The folder of a package that only deep tests need, installed on first use. */
export async function installed(name: string, version: string): Promise<string> {
  const folder = inRoot('.cache', `${name.replace(/\W+/g, '-')}-${version}`)
  const place = join(folder, 'node_modules', name)
  if (existsSync(place)) return place
  const quietly = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const what = ['--prefix', folder, `${name}@${version}`]
  const { code, output } = await runNpm(['install', '--prefer-offline', ...quietly, ...what])
  if (code !== 0) throw new Error(`${name} ${version} could not be installed:\n${output}`)
  return place
}
