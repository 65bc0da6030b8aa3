export type { IdRules } from '../../model/wire/id-projection.ts'
export { type ChatOptions, openaiChat } from './chat/model.ts'
export type { ChatQuirks } from './chat/quirks.ts'
export { openaiResponses, type ResponsesOptions } from './responses/model.ts'
