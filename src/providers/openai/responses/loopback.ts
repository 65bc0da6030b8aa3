import { namedFrame } from '../../../model/loopback-framing.ts'
import type { LoopbackHalf } from '../../../model/provider-definition.ts'
import { errorOf, openaiServer } from '../loopback.ts'

/** The server of the Responses API. */
export const loopback: LoopbackHalf = {
  ...openaiServer,
  route: /\/responses$/,
  frame: namedFrame,
  errorEvent: (status, message) => {
    const { type, param } = errorOf(status, message)
    return { type: 'error', code: type, message, param, sequence_number: 0 }
  },
}
