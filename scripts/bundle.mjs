import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { inRoot, readJson } from './project.mjs'

/**
 * Joins the modules of each entry into one file, what entries share into chunks. Loading seventy small
 * files takes longer than running them; declarations stay as they are.
 *
 * @param {string} folder what tsc gave
 */
export async function bundle(folder) {
  const manifest = readJson(inRoot('package.json'))
  const { exports, imports, bin, dependencies, peerDependencies, optionalDependencies } = manifest
  const packages = { ...dependencies, ...peerDependencies, ...optionalDependencies }
  const outdir = mkdtempSync(`${folder}-bundle-`)
  /** @type {import('esbuild').BuildOptions} */
  const options = {
    outdir,
    outbase: folder,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[hash]',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    // Of valibot only the used tenth goes along: reading all of it would be a quarter of the cold import.
    // `#hash` is resolved where the package is used: by Node's condition or the portable one.
    external: ['#hash', 'node:*', ...Object.keys(packages).filter((name) => name !== 'valibot')],
    logLevel: 'silent',
  }
  const entriesOf = (/** @type {unknown} */ value) =>
    targetsOf(value)
      .filter((path) => path.endsWith('.js'))
      .map((path) => join(folder, path.replace(/^\.\/dist\//, '')))
  await build({ ...options, entryPoints: entriesOf({ exports, imports }) })
  // The command is a process of its own. Sharing with it would cut the library into more files.
  await build({ ...options, entryPoints: entriesOf(bin), chunkNames: 'cli/chunks/[hash]' })
  for (const path of scriptsIn(outdir)) {
    writeFileSync(path, withClassNames(readFileSync(path, 'utf8')))
  }
  for (const path of scriptsIn(folder)) rmSync(path)
  cpSync(outdir, folder, { recursive: true })
  rmSync(outdir, { recursive: true })
}

/** @param {string} folder @returns {string[]} */
function scriptsIn(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => path.endsWith('.js')).map((path) => join(folder, path))
}

/**
 * A class that speaks of itself becomes `var Name = class _Name`, and `_Name` is then what logs show.
 * Inside the class both names mean the same. (`keepNames` does this too, by four hundred calls at import.)
 *
 * @param {string} script
 */
function withClassNames(script) {
  const renamed = [...script.matchAll(/^var (\w+) = class _\1\b/gm)]
  return renamed.reduce(
    (text, [, name]) => text.replaceAll(RegExp(`\\b_${name}\\b`, 'g'), `${name}`),
    script,
  )
}

/** @param {unknown} value @returns {string[]} every path named anywhere in it */
function targetsOf(value) {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(targetsOf) : []
}
