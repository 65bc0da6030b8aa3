import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { McpTools } from '../../mcp/index.ts'
import { isRunnerOption } from '../../turn/options/runner-options.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'
import type { Agent } from './agent.ts'
import { importFile } from './import-file.ts'
import { NO_AGENT } from './no-agent.ts'

const NAMES = ['agent.ts', 'agent.mts', 'agent.mjs', 'agent.js']

/** An agent, and the file that it came from. */
export interface LoadedAgent {
  readonly agent: Agent
  readonly file: string
  /** The tools of its MCP servers, which change; `agent` has them too, as they are at the time. */
  readonly servers?: readonly McpTools[]
}

/** Loads the agent file that `--agent` names, or the one of this folder. */
export async function loadAgent(
  values: { readonly agent?: string },
  { cwd }: Pick<Io, 'cwd'>,
): Promise<LoadedAgent> {
  const file = values.agent ?? NAMES.find((name) => existsSync(join(cwd, name)))
  if (file === undefined) throw usageError(NO_AGENT)
  return { agent: await loadAgentFile(cwd, file), file }
}

/** An agent is a default export, an export called `agent`, or `tools` and `model` by name. */
async function loadAgentFile(cwd: string, path: string): Promise<Agent> {
  const file = resolve(cwd, path)
  if (!existsSync(file))
    throw usageError(`The agent file \`${path}\` does not exist: check the path.`)
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
  const isPart = (name: string) => OWN_PARTS.includes(name) || isRunnerOption(name)
  return Object.fromEntries(Object.entries(loaded).filter(([name]) => isPart(name)))
}

const OWN_PARTS = ['question', 'offline', 'mcpServers']

const isAgent = (value: object): value is Agent =>
  ['tools', 'model', 'executor', 'instructions', 'mcpServers'].some((name) => name in value)

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
    const [said = ''] = thrownText(error).split('\n')
    const missing = /^Cannot find package '([^']+)'/.exec(said)?.[1]
    throw usageError(
      missing === undefined
        ? `\`${path}\` could not be loaded: ${said}`
        : `\`${path}\` needs the package \`${missing}\`: run \`npm install ${missing}\`.`,
    )
  }
}

/** Node before 22.18 cannot read TypeScript: esbuild, which many projects have, translates it. */
async function loadTranspiled(file: string, path: string): Promise<Record<string, unknown>> {
  const esbuild = await findEsbuild(file)
  if (esbuild === undefined) {
    throw usageError(
      `Node ${process.versions.node} cannot read TypeScript: use Node 22.18 or later, \`npm install -D esbuild\`, or write \`${basename(path).replace(/\.m?ts$/, '.mjs')}\`.`,
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
