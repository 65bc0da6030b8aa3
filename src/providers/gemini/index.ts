export {
  type ClientConnection,
  geminiInteractions,
  type InteractionsOptions,
  type InteractionsSettings,
} from './interactions/model.ts'
export type { InteractionsParams } from './interactions/request.ts'
export type { KeyConnection } from './key-connection.ts'
export { type GeminiOptions, gemini } from './model.ts'
export type { GeminiParams, RequestSettings } from './request.ts'
