import { plainFrame } from '../../../model/loopback-framing.ts'
import type { LoopbackHalf } from '../../../model/provider-definition.ts'
import { openaiServer } from '../loopback.ts'

/** The server of the Chat Completions API. */
export const loopback: LoopbackHalf = {
  ...openaiServer,
  route: /\/chat\/completions$/,
  frame: plainFrame,
  trailer: 'data: [DONE]\n\n',
  errorEvent: openaiServer.errorBody,
}
