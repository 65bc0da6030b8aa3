import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { inRoot, readJson } from './project.mjs'
import { giveUp, runNpm } from './run-command.mjs'

/** Installs what package-lock.json names, unless node_modules holds exactly that already. */
export async function ensureInstalled() {
  requireNode()
  const lock = readJson(inRoot('package-lock.json')).packages
  requireSameDependencies(readJson(inRoot('package.json')), lock[''])
  const reason = whyInstall(lock)
  if (reason === undefined) return
  process.stdout.write(`Installing dependencies (${reason}); this takes about a minute.\n`)
  // Not `npm ci`: it refuses a lockfile that lacks the binaries of a platform its registry lacks.
  const { code } = await runNpm(['install', '--no-save', '--no-audit', '--no-fund'], { show: true })
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
    'package.json and package-lock.json name different dependencies: run `npm install` once, then ' +
      'the same command again.',
  )
}

/**
 * npm leaves a list of what it installed in node_modules/.package-lock.json, as its last act.
 *
 * @param {LockedPackages} wanted
 * @returns {string | undefined} nothing when the list agrees with package-lock.json
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
 * The first package that is missing, of another version, or not wanted. Optional packages are the
 * binaries of one platform: which of them are there is npm's affair.
 *
 * @param {LockedPackages} wanted
 * @param {LockedPackages} installed
 * @returns {string | undefined}
 */
export function firstDifference(wanted, installed) {
  for (const [path, entry] of Object.entries(wanted)) {
    const present = installed[path]
    if (path === '' || (present === undefined && entry.optional)) continue
    if (present?.version !== entry.version || present?.integrity !== entry.integrity) {
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
