export type { McpAnnotations, McpToolInfo } from './client/definition.ts'
export {
  type McpAddress,
  type McpCommand,
  type McpServerConfig,
  mcpClient,
} from './client/mcp-client.ts'
export { type McpTools, type McpToolsOptions, mcpTools } from './client/mcp-tools.ts'
export type { McpProblem } from './client/tool-list.ts'
export { type McpServer, type McpServerOptions, mcpServer } from './server/mcp-server.ts'
