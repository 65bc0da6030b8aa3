import type { ToolDefinition } from '../../model/tool-definition.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'

/** Definitions are cached: an iteration must not cost more for more tools. */
const definitions = new WeakMap<Tool, ToolDefinition>()
const definitionLists = new WeakMap<readonly Tool[], readonly ToolDefinition[]>()

/** The definitions of the tools for the model. */
export function definitionsOf({ list }: ToolRegistry): readonly ToolDefinition[] {
  let known = definitionLists.get(list)
  if (known === undefined)
    definitionLists.set(list, (known = Object.freeze(list.map(definitionOf))))
  return known
}

function definitionOf(tool: Tool): ToolDefinition {
  let definition = definitions.get(tool)
  if (definition === undefined) {
    const { name, description, jsonSchema } = tool
    definitions.set(tool, (definition = { name, description, inputSchema: jsonSchema }))
  }
  return definition
}
