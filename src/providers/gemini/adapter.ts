import type { WireAdapter } from '../../model/wire/wire-adapter.ts'
import { decodePayload } from './decode.ts'
import { decodeStream } from './decode-stream.ts'
import { encodeHistory } from './encode.ts'
import { validateRequest } from './validate.ts'
import { API, type GeminiPart, PROVIDER } from './wire.ts'

/** The generateContent protocol, of the Developer API and of Vertex AI. */
export const geminiAdapter: WireAdapter<GeminiPart> = {
  api: API,
  provider: PROVIDER,
  decode: decodePayload,
  decodeStream,
  encode: encodeHistory,
  validate: validateRequest,
}
