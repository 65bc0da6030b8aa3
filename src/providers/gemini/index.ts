export { type GeminiOptions, gemini } from './model.ts'
export type { GeminiParams, RequestSettings } from './request.ts'
