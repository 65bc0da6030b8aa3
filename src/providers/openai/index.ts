export { type ChatOptions, openaiChat } from './chat/model.ts'
export { openaiResponses, type ResponsesOptions } from './responses/model.ts'
