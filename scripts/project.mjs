import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '')

/** @param {...string} parts */
export const inRoot = (...parts) => join(root, ...parts)

/** @param {string} path @returns {any} */
export function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/**
 * The JavaScript file behind an installed command: started with `node`, it needs no shell and no PATH.
 *
 * @param {string} packageName
 * @param {string} [command]
 */
export function commandFile(packageName, command = packageName) {
  const folder = inRoot('node_modules', packageName)
  const { bin } = readJson(join(folder, 'package.json'))
  return join(folder, typeof bin === 'string' ? bin : bin[command])
}
