import { defineProvider } from '../../model/define-provider.ts'
import type { BodyInput } from '../../model/provider-definition.ts'
import { appends } from './appended-change.ts'
import { takesCachePoints, withCachePoints } from './cache-points.ts'
import { decodePayload } from './decode/decode.ts'
import { decodeStream } from './decode/decode-stream.ts'
import { detect } from './detect.ts'
import { encodeHistory } from './encode/encode.ts'
import { loopback } from './loopback.ts'
import { requestBody } from './request.ts'
import { validateRequest } from './validate/validate.ts'
import { failureOfClient } from './wire/fail.ts'
import { bindsReasoning, withoutDeadReasoning } from './wire/thinking.ts'
import { API, type ConversePart, keyOf, PROVIDER } from './wire/wire.ts'

/** How one model is spoken to. */
export interface ProtocolSettings {
  /** Whether the model checks what stands before its reasoning; its name tells when absent. */
  readonly boundThinking?: boolean | undefined
}

/** The Converse protocol. */
export function converseWith({ boundThinking }: ProtocolSettings) {
  return defineProvider({
    api: API,
    provider: PROVIDER,
    version: 2,
    title: 'Amazon Bedrock Converse',
    framing: 'eventstream',
    history: { member: 'messages', tools: 'toolConfig.tools', instructions: 'system' },
    abilities: { appendInstructions: true, cacheMarkers: true, boundThinking: true },
    appends,
    detect,
    decode: decodePayload,
    decodeStream,
    encode: encodeHistory,
    requestBody: (input: BodyInput<ConversePart>) => {
      const plain = requestBody(input)
      const isCached = input.cache ?? takesCachePoints(input.model)
      const body = isCached ? withCachePoints(plain) : plain
      if (!(boundThinking ?? bindsReasoning(input.model))) return body
      const bound = withoutDeadReasoning(body, input.request.items, keyOf(input))
      if (bound.dead > 0) input.onRepair?.(deadRepair(bound.dead))
      return bound.body
    },
    validate: validateRequest,
    errors: failureOfClient,
    loopback,
  })
}

/** The Converse protocol. */
export const converse = converseWith({})

const deadRepair = (count: number) => ({
  kind: 'dead-thinking' as const,
  item: 'thought',
  message: `What stood before ${count} blocks of reasoning has changed since, so they are not sent: the model would refuse the request.`,
})
