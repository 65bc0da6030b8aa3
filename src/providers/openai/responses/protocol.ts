import { defineProvider } from '../../../model/define-provider.ts'
import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { failureOfClient } from '../fail.ts'
import { appendsFor } from './appended-change.ts'
import { decodePayload } from './decode/decode.ts'
import { ITEM_READERS } from './decode/decode-item.ts'
import { decodeStream } from './decode/decode-stream.ts'
import type { ResponsesDialect } from './decode/dialect.ts'
import { detect } from './detect.ts'
import { encodeHistory } from './encode/encode.ts'
import { loopback } from './loopback.ts'
import { requestBody } from './request.ts'
import type { RequestView } from './validate/request-view.ts'
import { RESPONSES_RULES, validateRequest } from './validate/validate.ts'

/** The Responses protocol as one service speaks it. */
export function responsesWith<const Api extends string>(
  dialect: ResponsesDialect & { readonly api: Api },
  rules: readonly WireRule<RequestView>[],
) {
  return defineProvider({
    api: dialect.api,
    provider: dialect.provider,
    version: 3,
    history: { member: 'input', text: true, tools: 'tools', instructions: 'instructions' },
    detect,
    decode: (payload, context) => decodePayload(payload, dialect, context),
    decodeStream: (context) => decodeStream(dialect, context),
    encode: (items, options) => encodeHistory(items, dialect, options),
    requestBody,
    validate: (payload) => validateRequest(payload, rules),
    errors: (error) => failureOfClient(dialect.api, error),
    loopback,
  })
}

/** The Responses protocol as OpenAI serves it. */
export const responses = defineProvider({
  ...responsesWith(
    {
      api: 'openai-responses',
      provider: 'openai',
      readers: ITEM_READERS,
      toInput: (item) => item,
    },
    RESPONSES_RULES,
  ),
  title: 'OpenAI Responses',
  abilities: { appendTools: true, appendInstructions: true, lateResults: true },
  appends: appendsFor('openai-responses'),
})
