import type { WireAdapter } from '../../model/wire/wire-adapter.ts'
import { decodePayload } from './decode.ts'
import { decodeStream } from './decode-stream.ts'
import { encodeHistory, type MessagesEncodeOptions } from './encode.ts'
import { validateRequest } from './validate.ts'
import { API, type MessagesPart, PROVIDER } from './wire.ts'

/** The Messages protocol. With a clock it leaves out a container that has expired. */
export function messagesAdapterWith({
  now,
}: Pick<MessagesEncodeOptions, 'now'>): WireAdapter<MessagesPart> {
  return {
    api: API,
    provider: PROVIDER,
    decode: decodePayload,
    decodeStream,
    encode: (items, options) =>
      encodeHistory(items, { ...options, ...(now !== undefined && { now }) }),
    validate: validateRequest,
  }
}

/** The Messages protocol. */
export const messagesAdapter: WireAdapter<MessagesPart> = messagesAdapterWith({})
