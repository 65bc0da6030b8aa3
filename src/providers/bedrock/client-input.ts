import type { ConverseStreamCommandInput } from '@aws-sdk/client-bedrock-runtime'
import { base64ToBytes } from '../../core/base64.ts'
import { asObject } from '../../model/wire/wire-value.ts'
import type { ConverseBody } from './request.ts'
import { isTag, taggedOf } from './wire/wire.ts'

/**
 * A request as the client takes it: it wants bytes where JSON has base64, and a wrapper around blocks that it does not
 * know.
 */
export function clientInput(body: ConverseBody): ConverseStreamCommandInput {
  const { messages, ...others } = body
  const blocks = messages.map(({ role, content }) => ({ role, content: content.map(clientBlock) }))
  return { ...(withBytes(others, 0) as object), messages: blocks } as ConverseStreamCommandInput
}

function clientBlock(block: object): unknown {
  const tagged = taggedOf(block)
  if (tagged !== undefined && !isTag(tagged.tag)) return { $unknown: [tagged.tag, tagged.body] }
  return withBytes(block, 0)
}

/** Deeper than any block has bytes; arguments and schemas are not looked into. */
const MAX_DEPTH = 8
const OPAQUE: ReadonlySet<string> = new Set(['input', 'json', 'additionalModelRequestFields'])

function withBytes(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((member) => withBytes(member, depth + 1))
  const object = asObject(value)
  if (object === undefined || depth > MAX_DEPTH) return value
  return Object.fromEntries(
    Object.entries(object).map(([name, member]) => [name, memberBytes(name, member, depth)]),
  )
}

function memberBytes(name: string, member: unknown, depth: number): unknown {
  if (OPAQUE.has(name)) return member
  if ((name === 'bytes' || name === 'redactedContent') && typeof member === 'string') {
    return bytesOf(member)
  }
  return withBytes(member, depth + 1)
}

/** Decodes base64. Other text did not come from this wire: its own bytes are sent. */
function bytesOf(text: string): Uint8Array {
  try {
    return base64ToBytes(text)
  } catch {
    return new TextEncoder().encode(text)
  }
}
