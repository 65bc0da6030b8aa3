import type { WireAdapter } from '../model/wire/wire-adapter.ts'
import { messagesAdapter } from '../providers/anthropic/adapter.ts'
import { foundryAdapter } from '../providers/foundry/adapter.ts'
import { geminiAdapter } from '../providers/gemini/adapter.ts'
import { chatAdapter } from '../providers/openai/chat/adapter.ts'
import { responsesAdapter } from '../providers/openai/responses/adapter.ts'

/** Every protocol that `wire` speaks and that the conformance tests hold to the same rules. */
export const adapters: readonly WireAdapter[] = [
  responsesAdapter,
  chatAdapter,
  foundryAdapter,
  messagesAdapter,
  geminiAdapter,
]
