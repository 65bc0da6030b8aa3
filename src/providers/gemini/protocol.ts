import { defineProvider } from '../../model/define-provider.ts'
import { decodePayload } from './decode/decode.ts'
import { decodeStream } from './decode/decode-stream.ts'
import { detect } from './detect.ts'
import { encodeHistory } from './encode/encode.ts'
import { loopback } from './loopback.ts'
import { continuedBody, requestBody } from './request.ts'
import { validateRequest } from './validate/validate.ts'
import { failureOfClient } from './wire/fail.ts'
import { API, PROVIDER } from './wire/wire.ts'

/** The generateContent protocol, of the Developer API and of Vertex AI. */
export const generateContent = defineProvider({
  api: API,
  provider: PROVIDER,
  version: 1,
  title: 'Gemini generateContent',
  history: {
    member: 'contents',
    text: true,
    textItems: true,
    tools: 'config.tools',
    instructions: 'config.systemInstruction',
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
