import type { WireAdapter } from '../../../model/wire/wire-adapter.ts'
import { decodePayload } from './decode.ts'
import { ITEM_READERS } from './decode-item.ts'
import { decodeStream } from './decode-stream.ts'
import type { ResponsesDialect } from './dialect.ts'
import { encodeHistory } from './encode.ts'
import { validateRequest } from './validate.ts'
import type { ResponsesPart } from './wire.ts'

const dialect: ResponsesDialect = {
  api: 'openai-responses',
  provider: 'openai',
  readers: ITEM_READERS,
  toInput: (item) => item,
}

/** The Responses protocol as OpenAI serves it. */
export const responsesAdapter: WireAdapter<ResponsesPart> = {
  api: dialect.api,
  provider: dialect.provider,
  decode: (payload, context) => decodePayload(payload, dialect, context),
  decodeStream: (context) => decodeStream(dialect, context),
  encode: (items, options) => encodeHistory(items, dialect, options),
  validate: (payload) => validateRequest(payload),
}
