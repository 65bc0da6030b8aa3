import type { InputSchema } from './input-schema.ts'
import { Tool as ToolClass } from './tool-class.ts'
import type { ToolOutput } from './tool-context.ts'
import type { ExternalToolOptions, ToolOptions } from './tool-options.ts'

/**
 * Something a model can call: a name, a description, a schema, and a handler that only `executor` reaches. `Context` is what
 * its runner must be given as `context`.
 */
export interface Tool<S extends InputSchema = InputSchema, Context = unknown>
  extends ToolClass<S, Context> {}

/**
 * The constructor of tools. It checks the return type of the handler, which is not part of the tool's type: a class cannot
 * express that, and users' own types would appear in the declarations of everything that exports a tool.
 */
export interface ToolConstructor {
  new <const S extends InputSchema = InputSchema, Q = ToolOutput, Context = unknown>(
    options: ExternalToolOptions<S, Q, Context>,
  ): Tool<S, Context>
  new <
    const S extends InputSchema = InputSchema,
    R = ToolOutput | Promise<ToolOutput>,
    Q = ToolOutput,
    Context = unknown,
  >(
    options: ToolOptions<S, R, Q, Context>,
  ): Tool<S, Context>
  isTool(value: unknown): value is Tool
  readonly prototype: Tool
}

// Not annotated as well: oxlint would then compare the two types, which takes it fifteen seconds.
export const Tool = ToolClass as ToolConstructor
