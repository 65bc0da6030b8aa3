import type { WireAdapter } from '../../../model/wire/wire-adapter.ts'
import { decodePayload } from './decode.ts'
import { API, PROVIDER } from './decode-response.ts'
import { decodeStream } from './decode-stream.ts'
import { encodeHistory } from './encode.ts'
import { CHAT_QUIRKS, type ChatQuirks } from './quirks.ts'
import { validateRequest } from './validate.ts'
import type { ChatPart } from './wire.ts'

/** Chat Completions as one kind of server wants it. */
export function chatAdapterFor(quirks: ChatQuirks): WireAdapter<ChatPart> {
  return {
    api: API,
    provider: PROVIDER,
    decode: (payload, context) => decodePayload(payload, context),
    decodeStream: (context) => decodeStream(context),
    encode: (items, options) => encodeHistory(items, quirks, options),
    validate: (payload) => validateRequest(payload),
  }
}

/** Chat Completions as OpenAI and nearly every compatible server take it. */
export const chatAdapter = chatAdapterFor(CHAT_QUIRKS)
