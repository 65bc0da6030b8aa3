import { defineProvider } from '../../model/define-provider.ts'
import type { BodyInput } from '../../model/provider-definition.ts'
import { appends, betasFor } from './appended-change.ts'
import { withCacheMarkers } from './cache-markers.ts'
import { decodePayload } from './decode/decode.ts'
import { decodeStream } from './decode/decode-stream.ts'
import { detect } from './detect.ts'
import { encodeHistory, type MessagesEncodeOptions } from './encode/encode.ts'
import { loopback } from './loopback.ts'
import { requestBody } from './request.ts'
import { bindsThinking } from './thinking/binding-models.ts'
import { boundsOf, withoutDeadThinking } from './thinking/bound-thinking.ts'
import { validateRequest } from './validate/validate.ts'
import { failureOfClient } from './wire/fail.ts'
import { API, keyOf, type MessagesPart, PROVIDER } from './wire/wire.ts'

/** How one model is spoken to. */
export interface ProtocolSettings extends Pick<MessagesEncodeOptions, 'now'> {
  /** Whether the model checks what stands before its thinking; its name tells when absent. */
  readonly boundThinking?: boolean | undefined
}

/** The Messages protocol. With a clock it leaves out a container that has expired. */
export function messagesWith({ now, boundThinking }: ProtocolSettings) {
  return defineProvider({
    api: API,
    provider: PROVIDER,
    version: 3,
    title: 'Anthropic Messages',
    history: { member: 'messages', tools: 'tools', instructions: 'system' },
    abilities: {
      appendTools: true,
      appendInstructions: true,
      cacheMarkers: true,
      boundThinking: true,
    },
    detect,
    decode: decodePayload,
    decodeStream,
    encode: (items, options) =>
      encodeHistory(items, { ...options, ...(now !== undefined && { now }) }),
    requestBody: (input: BodyInput<MessagesPart>) => {
      const plain = withBetas(requestBody(input), betasFor(input.part.messages))
      const body = input.cache === false ? plain : withCacheMarkers(plain)
      if (!(boundThinking ?? bindsThinking(input.model))) return body
      const bound = withoutDeadThinking(body, boundsOf(input.request.items, keyOf(input)))
      if (bound.dead > 0) input.onRepair?.(deadRepair(bound.dead))
      return bound.body
    },
    appends,
    validate: validateRequest,
    errors: failureOfClient,
    loopback,
  })
}

/** The Messages protocol. */
export const messages = messagesWith({})

function withBetas(body: ReturnType<typeof requestBody>, needed: readonly string[]) {
  const betas = [...new Set([...(body.betas ?? []), ...needed])]
  return betas.length === 0 ? body : { ...body, betas }
}

const deadRepair = (count: number) => ({
  kind: 'dead-thinking' as const,
  item: 'thought',
  message: `What stood before ${count} blocks of thinking has changed since, so they are not sent: the provider would refuse the request.`,
})
