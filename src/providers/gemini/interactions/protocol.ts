import { defineProvider } from '../../../model/define-provider.ts'
import { decodePayload } from './decode/decode.ts'
import { decodeStream } from './decode/decode-stream.ts'
import { detect } from './detect.ts'
import { encodeHistory } from './encode/encode.ts'
import { loopback } from './loopback.ts'
import { continuedBody, requestBody } from './request.ts'
import { validateRequest } from './validate/validate.ts'
import { failureOfClient } from './wire/fail.ts'
import { API, PROVIDER } from './wire/wire.ts'

/** The Interactions protocol, of the Developer API and of Vertex AI. */
export const interactions = defineProvider({
  api: API,
  provider: PROVIDER,
  version: 1,
  title: 'Gemini Interactions',
  history: {
    member: 'input',
    text: true,
    textItems: true,
    tools: 'tools',
    instructions: 'system_instruction',
  },
  detect,
  decode: decodePayload,
  decodeStream,
  encode: encodeHistory,
  requestBody,
  continuedBody,
  validate: validateRequest,
  errors: failureOfClient,
  loopback,
})
