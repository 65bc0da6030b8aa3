export {
  type McpOAuth,
  type McpOAuthClient,
  type McpOAuthOptions,
  mcpOAuth,
} from './access/mcp-oauth.ts'
export type { McpOAuthStorage } from './access/open-sign-ins.ts'
export type { McpAnnotations, McpToolInfo } from './client/definition.ts'
export {
  type McpAddress,
  type McpClientOptions,
  type McpCommand,
  type McpServerConfig,
  mcpClient,
} from './client/mcp-client.ts'
export { type McpTools, type McpToolsOptions, mcpTools } from './client/mcp-tools.ts'
export type { McpProblem } from './client/tool-list.ts'
export { type McpServer, type McpServerOptions, mcpServer } from './server/mcp-server.ts'
export type { McpRunnerOptions } from './server/served-runner.ts'
