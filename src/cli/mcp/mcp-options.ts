import type { Values } from '../command/command.ts'
import { STORE_OPTIONS } from '../command/store-location.ts'
import { MODEL_OPTIONS } from '../run/model-choice.ts'
import { OTEL_OPTION } from '../run/with-telemetry.ts'

/** The options of `bobbin mcp`, all forms. */
export const MCP_OPTIONS = {
  config: {
    type: 'string',
    value: 'FILE',
    help: 'The file with `mcpServers`; mcp.json or .mcp.json of this folder unless given',
  },
  yes: { type: 'boolean', short: 'y', help: 'call: approve the call if it asks' },
  answer: {
    type: 'string',
    multiple: true,
    value: 'JSON',
    help: 'call: fill in the form that the server asks for; once for each form',
  },
  port: { type: 'string', value: 'PORT', help: 'serve: over HTTP on this port of this machine' },
  approvals: { type: 'boolean', help: 'serve: let clients decide on calls that need approval' },
  ...MODEL_OPTIONS,
  ...OTEL_OPTION,
  ...STORE_OPTIONS,
} as const

export type McpValues = Values<typeof MCP_OPTIONS>
