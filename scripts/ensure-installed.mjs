import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { inRoot, readJson } from './project.mjs'
import { giveUp, runNpm } from './run-command.mjs'

/** Installs the packages of package-lock.json, unless node_modules already holds exactly those. */
export async function ensureInstalled() {
  requireNode()
  const lock = readJson(inRoot('package-lock.json')).packages
  requireSameDependencies(readJson(inRoot('package.json')), lock[''])
  const reason = whyInstall(lock)
  if (reason === undefined) return
  process.stdout.write(`Installing dependencies (${reason}); this takes about a minute.\n`)
  const { code } = await runNpm(['ci', '--no-audit', '--no-fund'], { show: true })
  if (code === 0) return
  giveUp(
    'The dependencies could not be installed; npm says why above. Check the network and your npm ' +
      'registry setting, then run the same command again.',
  )
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  giveUp(`Node ${process.versions.node} is too old: install Node 20.19 or later.`)
}

/**
 * @param {Record<string, unknown>} manifest
 * @param {Record<string, unknown>} locked
 */
function requireSameDependencies(manifest, locked) {
  const parts = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
  if (parts.every((part) => isDeepStrictEqual(manifest[part], locked[part]))) return
  giveUp(
    'package.json and package-lock.json name different dependencies: run `npm install`, then ' +
      '`npm run lockfile`, then the same command again.',
  )
}

/**
 * The last file that npm writes is node_modules/.package-lock.json, a list of what it installed.
 *
 * @param {LockedPackages} wanted
 * @returns {string | undefined} undefined when the list agrees with package-lock.json
 */
function whyInstall(wanted) {
  const listPath = inRoot('node_modules', '.package-lock.json')
  if (!existsSync(listPath)) return 'node_modules is missing or unfinished'
  return firstDifference(wanted, readJson(listPath).packages)
}

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage
 * @typedef {Readonly<Record<string, LockedPackage>>} LockedPackages
 */

/**
 * The first package that is missing, has another version, or is not wanted. Optional packages are the
 * binaries of one platform: npm decides which of them to install.
 *
 * @param {LockedPackages} wanted
 * @param {LockedPackages} installed
 * @returns {string | undefined}
 */
export function firstDifference(wanted, installed) {
  for (const [path, entry] of Object.entries(wanted)) {
    const present = installed[path]
    if (path === '' || (present === undefined && entry.optional)) continue
    const sameBytes = entry.integrity === undefined || present?.integrity === entry.integrity
    if (present?.version !== entry.version || !sameBytes) {
      return `${nameOf(path)} is not at ${entry.version}`
    }
  }
  const extra = Object.keys(installed).find(
    (path) => !(path in wanted || installed[path]?.optional),
  )
  return extra === undefined ? undefined : `${nameOf(extra)} is not in package-lock.json`
}

/** @param {string} path */
function nameOf(path) {
  return path.replace(/^node_modules\//, '')
}
