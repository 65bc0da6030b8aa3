import { defineProvider } from '../../../model/define-provider.ts'
import type { BodyInput } from '../../../model/provider-definition.ts'
import { failureOfClient } from '../fail.ts'
import { decodePayload } from './decode/decode.ts'
import { API, PROVIDER } from './decode/decode-response.ts'
import { decodeStream } from './decode/decode-stream.ts'
import { detect } from './detect.ts'
import { encodeHistory } from './encode/encode.ts'
import { loopback } from './loopback.ts'
import { requestBody } from './request.ts'
import { validateRequest } from './validate/validate.ts'
import { CHAT_QUIRKS, type ChatQuirks } from './wire/quirks.ts'
import type { ChatPart } from './wire/wire.ts'

/** Chat Completions as one kind of server wants it. */
export function chatWith(quirks: ChatQuirks) {
  return defineProvider({
    api: API,
    provider: PROVIDER,
    version: 3,
    title: 'OpenAI Chat Completions',
    history: { member: 'messages', tools: 'tools' },
    detect,
    decode: decodePayload,
    decodeStream,
    encode: (items, options) => encodeHistory(items, quirks, options),
    requestBody: (input: BodyInput<ChatPart>) => requestBody(input, quirks),
    validate: validateRequest,
    errors: (error) => failureOfClient(API, error),
    loopback,
  })
}

/** Chat Completions as OpenAI and nearly every compatible server take it. */
export const chat = chatWith(CHAT_QUIRKS)
