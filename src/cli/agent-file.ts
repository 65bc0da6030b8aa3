import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { thrownText } from '../core/thrown-text.ts'
import { isRunnerOption } from '../turn/check-options.ts'
import type { Agent } from './agent.ts'
import { importFile } from './import-file.ts'
import { usageError } from './usage-error.ts'

const NAMES = ['agent.ts', 'agent.mts', 'agent.mjs', 'agent.js']

/** The agent file of a folder, if it has one. */
export function findAgentFile(cwd: string): string | undefined {
  return NAMES.map((name) => join(cwd, name)).find((path) => existsSync(path))
}

/** Loads an agent: a default export, an export called `agent`, or `tools` and `model` by name. */
export async function loadAgentFile(cwd: string, path: string): Promise<Agent> {
  const file = resolve(cwd, path)
  if (!existsSync(file)) throw usageError(`There is no agent file at \`${path}\`: check the path.`)
  const loaded = await load(file, path)
  const given = loaded['default'] ?? loaded['agent'] ?? namedParts(loaded)
  const agent: unknown = typeof given === 'function' ? await (given as () => unknown)() : given
  if (typeof agent === 'object' && agent !== null && isAgent(agent)) return agent
  throw usageError(
    `\`${path}\` exports no agent: export \`tools\`, \`model\` and \`instructions\`, or one object with them as \`agent\`.`,
  )
}

/** A module may export more than its agent, for tests of its own for instance. */
function namedParts(loaded: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isPart = (name: string) => name === 'question' || isRunnerOption(name)
  return Object.fromEntries(Object.entries(loaded).filter(([name]) => isPart(name)))
}

const isAgent = (value: object): value is Agent =>
  ['tools', 'model', 'executor', 'instructions'].some((name) => name in value)

async function load(file: string, path: string): Promise<Record<string, unknown>> {
  try {
    return await importFile(pathToFileURL(file).href)
  } catch (error) {
    const code = (error as { readonly code?: unknown }).code
    if (
      code === 'ERR_UNKNOWN_FILE_EXTENSION' ||
      code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING'
    ) {
      return loadTranspiled(file, path)
    }
    const said = thrownText(error)
    throw usageError(`\`${path}\` could not be loaded: ${said.split('\n')[0]}`)
  }
}

/** Node before 22.18 reads no TypeScript; esbuild, which many projects have, does it instead. */
async function loadTranspiled(file: string, path: string): Promise<Record<string, unknown>> {
  const esbuild = await findEsbuild(file)
  if (esbuild === undefined) {
    throw usageError(
      `Node ${process.versions.node} reads no TypeScript: use Node 22.18 or later, \`npm install -D esbuild\`, or write \`${basename(path).replace(/\.m?ts$/, '.mjs')}\`.`,
    )
  }
  const { outputFiles } = await esbuild.build({
    entryPoints: [file],
    bundle: true,
    write: false,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  })
  // Beside the original, so that its imports resolve as they would from there.
  const built = join(dirname(file), `.${basename(file)}.${process.pid}.mjs`)
  await writeFile(built, outputFiles[0]?.contents ?? '')
  try {
    return await importFile(pathToFileURL(built).href)
  } finally {
    await rm(built, { force: true })
  }
}

interface Esbuild {
  build(options: object): Promise<{ readonly outputFiles: readonly { contents: Uint8Array }[] }>
}

async function findEsbuild(file: string): Promise<Esbuild | undefined> {
  try {
    const path = createRequire(file).resolve('esbuild')
    const loaded = await importFile(pathToFileURL(path).href)
    return (loaded['default'] ?? loaded) as Esbuild
  } catch {
    return undefined
  }
}

/** Reads a text file that the command line names. */
export async function readNamedFile(cwd: string, path: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), 'utf8')
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code === 'ENOENT') throw usageError(`There is no file \`${path}\`: check the path.`)
    if (code === 'EISDIR') throw usageError(`\`${path}\` is a folder: name a file.`)
    throw error
  }
}
