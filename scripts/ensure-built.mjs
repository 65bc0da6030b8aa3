import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { commandFile, inRoot } from './project.mjs'
import { runNode } from './run-command.mjs'

const stampPath = inRoot('.cache', 'build.sha256')

/**
 * Builds dist/ from src/ unless it is up to date. The old dist/ stays until the new one is whole.
 *
 * @returns {Promise<{ code: number, output: string }>}
 */
export async function ensureBuilt() {
  const stamp = stampOfInputs()
  if (existsSync(inRoot('dist', 'index.js')) && readIfThere(stampPath) === stamp) {
    return { code: 0, output: '' }
  }
  const fresh = inRoot('.cache', `dist-${randomUUID()}`)
  rmSync(fresh, { recursive: true, force: true })
  const args = ['-p', 'tsconfig.build.json', '--outDir', fresh]
  const result = await runNode(commandFile('typescript', 'tsc'), args)
  if (result.code === 0) {
    // Loaded here because it needs esbuild, and this file runs before anything is installed.
    const { bundle } = await import('./bundle.mjs')
    await bundle(fresh)
    rmSync(inRoot('dist'), { recursive: true, force: true })
    renameSync(fresh, inRoot('dist'))
    writeFileSync(stampPath, stamp)
  } else {
    rmSync(fresh, { recursive: true, force: true })
  }
  return result
}

/** A digest over everything that the build reads, so that a switch of branches is noticed. */
function stampOfInputs() {
  mkdirSync(inRoot('.cache'), { recursive: true })
  const digest = createHash('sha256')
  const sources = readdirSync(inRoot('src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
  const settings = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/bundle.mjs',
  ]
  for (const path of [...settings, ...sources.sort()]) {
    digest
      .update(`${path}\0`)
      .update(readFileSync(inRoot(path)))
      .update('\0')
  }
  return digest.digest('hex')
}

/** @param {string} path */
function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
