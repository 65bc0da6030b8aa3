export { type BedrockConverseOptions, bedrockConverse } from './model.ts'
export type { ConverseParams, HostedTool, RequestSettings } from './request.ts'
