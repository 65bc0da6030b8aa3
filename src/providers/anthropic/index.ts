export { type AnthropicMessagesOptions, anthropicMessages } from './model.ts'
export type { HostedTool, MessagesParams, RequestSettings } from './request.ts'
