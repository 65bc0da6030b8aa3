import type { JsonObject } from '../core/json/json.ts'

/** A tool as a model sees it. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments; always `type: 'object'`. */
  readonly inputSchema: JsonObject
}

/** Which tools the model may or must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string }
