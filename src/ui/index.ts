export {
  type ApprovalsOptions,
  approvalsOf,
  type UserMessage,
  userMessageOf,
} from './client-body.ts'
export type { StreamOptions } from './event-stream.ts'
export { feedResponse } from './feed-response.ts'
export type { UiMessage, UiPart } from './page-state.ts'
export type {
  UiGate,
  UiHandle,
  UiSettled,
  UiSteering,
  UiWarning,
} from './ui-chunk.ts'
export type { AiVersion } from './ui-chunks.ts'
export { type UiMessageOptions, uiMessageResponse } from './ui-message-response.ts'
export { type UiMessagesInput, uiMessages } from './ui-messages.ts'
export { uiReconnectResponse } from './ui-reconnect-response.ts'
export type { UiOutput, UiResult } from './ui-result.ts'
