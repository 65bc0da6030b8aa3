import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import { BobbinError } from '../core/error/error.ts'
import { isObject } from '../core/error/wrong-input.ts'
import type { Tokenizable } from '../text/tokenizable.ts'
import type { InferArguments, InputSchema } from './input-schema.ts'
import { Tool } from './tool.ts'
import type { ToolContext } from './tool-context.ts'
import type { ToolOptions } from './tool-options.ts'

type Answer = string | Tokenizable

/** The options of an artifact tool: those of a tool, with a text answer instead of an artifact. */
export interface ArtifactToolOptions<S extends InputSchema = InputSchema>
  extends Omit<ToolOptions<S>, 'handler' | 'artifactConstructor'> {
  readonly handler: (args: InferArguments<S>, context: ToolContext) => Answer | Promise<Answer>
}

/**
 * A tool that answers questions about an artifact. Its answer is plain text, never an artifact: otherwise the model would
 * query the answers of its queries.
 */
export class ArtifactTool<const S extends InputSchema = InputSchema> extends Tool<S> {
  constructor(options: ArtifactToolOptions<S>) {
    // The constructor of Tool refuses anything that is not an object.
    const given = options as Partial<ArtifactToolOptions<S>> | null | undefined
    if (isObject(given) && 'artifactConstructor' in given) throw noArtifacts()
    const handler = given?.handler
    const answer: ToolOptions<S>['handler'] = async (args, context) =>
      String(await handler?.(args, context))
    super({ ...options, handler: typeof handler === 'function' ? answer : (handler as never) })
  }

  static isArtifactTool(value: unknown): value is ArtifactTool {
    return isInstanceOf(value, 'ArtifactTool')
  }

  [brandOf('ArtifactTool')](): boolean {
    return Tool.isTool(this)
  }
}

function noArtifacts(): BobbinError {
  const rule = 'is not an option of an artifact tool: its answer is never wrapped'
  const message = `\`ArtifactTool.artifactConstructor\` ${rule}. Remove it, or make a Tool.`
  return new BobbinError('E_INVALID_INITIAL_TOOL_VALUE', message, {
    path: 'artifactConstructor',
    rule,
  })
}
