import { anthropicMessagesProvider } from '../providers/anthropic/definition.ts'
import { bedrockConverseProvider } from '../providers/bedrock/definition.ts'
import { foundryProvider } from '../providers/foundry/definition.ts'
import { geminiProvider } from '../providers/gemini/definition.ts'
import { geminiInteractionsProvider } from '../providers/gemini/interactions/definition.ts'
import { openaiChatProvider } from '../providers/openai/chat/definition.ts'
import { openaiResponsesProvider } from '../providers/openai/responses/definition.ts'

/**
 * Every protocol of this package. All that other parts know about one comes from here. The first that recognises a
 * payload has it, so the more particular stand before the more general.
 */
export const providers = [
  geminiInteractionsProvider,
  bedrockConverseProvider,
  foundryProvider,
  openaiResponsesProvider,
  anthropicMessagesProvider,
  geminiProvider,
  openaiChatProvider,
] as const

/** The protocols of this package. */
export type KnownApi = (typeof providers)[number]['api']
