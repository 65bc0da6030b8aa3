import { BobbinError } from '../core/error/error.ts'
import { isIterable, wrongInput } from '../core/error/wrong-input.ts'
import { ArtifactTool } from './artifact-tool.ts'
import type { InputSchema } from './input-schema.ts'
import { Tool } from './tool.ts'
import type { CollisionPolicy } from './tool-options.ts'

/** Names that belong to forged tools; a user's tool must not shadow them. */
const FORGED_PREFIX = 'artifact_'

/** A tool, whatever it needs as `context`. */
type AnyTool = Tool<InputSchema, never>

/**
 * The tools of a turn, by name. Only registered names are known, not inherited ones such as `toString`. A frozen registry,
 * such as a runner's, cannot change.
 */
export class ToolRegistry implements Iterable<Tool> {
  readonly #tools = new Map<string, Tool>()
  #list: readonly Tool[] | undefined

  constructor(tools: Iterable<AnyTool> = []) {
    requireList('ToolRegistry', tools)
    for (const tool of tools) this.register(tool)
  }

  /** Adds a tool; two of one name collide by `onCollision`, the tool's own policy unless given. */
  register(tool: AnyTool, onCollision?: CollisionPolicy): this {
    requireTool(tool)
    requireOpen(this, tool.name)
    if (this.#tools.has(tool.name)) {
      const policy = onCollision ?? tool.onCollision
      if (policy === 'keep') return this
      if (policy !== 'replace') throw collision(tool.name)
    }
    this.#tools.set(tool.name, tool)
    this.#list = undefined
    return this
  }

  /** Adds every tool of another registry. */
  merge(other: Iterable<AnyTool>, onCollision?: CollisionPolicy): this {
    requireList('registry.merge', other)
    for (const tool of other) this.register(tool, onCollision)
    return this
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  has(name: string): boolean {
    return this.#tools.has(name)
  }

  delete(name: string): boolean {
    requireOpen(this, name)
    this.#list = undefined
    return this.#tools.delete(name)
  }

  /** Drops the tools that were made for one request only. */
  pruneEphemeral(): this {
    for (const tool of this) if (tool.ephemeral) this.delete(tool.name)
    return this
  }

  /** The current tools: the same list until one is added or removed. */
  get list(): readonly Tool[] {
    this.#list ??= Object.freeze([...this.#tools.values()])
    return this.#list
  }

  get size(): number {
    return this.#tools.size
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()]
  }

  [Symbol.iterator](): IterableIterator<Tool> {
    return this.#tools.values()
  }
}

function requireList(of: string, tools: unknown): void {
  if (isIterable(tools)) return
  throw wrongInput(of, 'tools', 'must be a list of tools, or another registry')
}

function requireOpen(registry: ToolRegistry, tool: string): void {
  if (!Object.isFrozen(registry)) return
  const message = `The tools of a runner are fixed when it is made: \`${tool}\` can neither be added nor taken away now. Make a registry of your own, or another runner.`
  throw new BobbinError('E_REGISTRY_FROZEN', message, { tool })
}

function requireTool(tool: unknown): asserts tool is Tool {
  if (!Tool.isTool(tool)) {
    const rule = 'must be a Tool'
    const message = `A registry holds tools only: the value ${rule}. Make it with \`new Tool({ … })\`.`
    throw new BobbinError('E_INVALID_INITIAL_TOOL_VALUE', message, { path: '', rule })
  }
  const isForged = tool.ephemeral && ArtifactTool.isArtifactTool(tool)
  if (tool.name.startsWith(FORGED_PREFIX) && !isForged) {
    const message = `\`${tool.name}\` is reserved: names that begin with \`${FORGED_PREFIX}\` belong to the tools that are forged around artifacts. Choose another name.`
    throw new BobbinError('E_TOOL_COLLISION', message, { tool: tool.name })
  }
}

function collision(name: string): BobbinError {
  const message = `A tool named \`${name}\` is registered already: rename one (those of an MCP server get a \`prefix\` from \`mcpTools\`), or say what should happen with \`onCollision: 'replace' | 'keep'\`.`
  return new BobbinError('E_TOOL_COLLISION', message, { tool: name })
}
