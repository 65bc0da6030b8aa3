import type { Effect } from '../../tools/tool-options.ts'
import type { McpToolInfo } from './definition.ts'

/** How the word of a server about its tools counts. */
export interface McpPolicy {
  /** Whether the server's annotations count. Without it, every tool is a `write`. */
  readonly trusted?: boolean | undefined
  /** Your own word about the effect of tools, by their names on the server. */
  readonly effects?: Readonly<Record<string, Effect>> | undefined
  /** Whether calls need approval, whatever the annotations say. */
  readonly approval?: boolean | ((tool: McpToolInfo) => boolean) | undefined
}

/** The effect of a tool. An annotation is the word of a stranger, so it counts only if the server is trusted. */
export function effectOf({ name, annotations }: McpToolInfo, policy: McpPolicy): Effect {
  const own = policy.effects !== undefined && Object.hasOwn(policy.effects, name)
  if (own) return policy.effects?.[name] ?? 'write'
  if (policy.trusted !== true) return 'write'
  if (annotations.readOnlyHint === true) return 'read'
  return annotations.idempotentHint === true ? 'idempotent' : 'write'
}

/** Whether a call needs approval by itself; the trust policy of the runner asks besides. */
export function needsApproval(tool: McpToolInfo, policy: McpPolicy): boolean {
  const { approval, trusted } = policy
  if (typeof approval === 'function') return approval(tool)
  if (approval !== undefined) return approval
  if (trusted !== true) return false
  const { destructiveHint } = tool.annotations
  switch (effectOf(tool, policy)) {
    case 'read':
      return false
    case 'idempotent':
      return destructiveHint === true
    default:
      // Absent means true in MCP.
      return destructiveHint !== false
  }
}
