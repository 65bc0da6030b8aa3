import type { InputSchema } from './input-schema.ts'
import { Tool as ToolClass } from './tool-class.ts'
import type { ToolOutput } from './tool-context.ts'
import type { ToolOptions } from './tool-options.ts'

/** Something a model can call: a name, a description, a schema, and a handler that only `executor` reaches. */
export interface Tool<S extends InputSchema = InputSchema> extends ToolClass<S> {}

/**
 * How tools are made. What a handler returns is checked here and is no part of the tool's type: a class cannot
 * say that, and types of users' own would stand in the declarations of everything that exports a tool.
 */
export interface ToolConstructor {
  new <
    const S extends InputSchema = InputSchema,
    R = ToolOutput | Promise<ToolOutput>,
    Q = ToolOutput,
  >(
    options: ToolOptions<S, R, Q>,
  ): Tool<S>
  isTool(value: unknown): value is Tool
  readonly prototype: Tool
}

export const Tool: ToolConstructor = ToolClass as ToolConstructor
