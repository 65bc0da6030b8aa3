export { openaiResponses, type ResponsesOptions } from './responses/model.ts'
