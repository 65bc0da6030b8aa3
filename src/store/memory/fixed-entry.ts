import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { Message } from '../../records/message.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { NewEntry } from '../entry.ts'

/** Far below the limits of an entry, so that writing it out later cannot fail. */
const MAX_CHARS = 64 * 1024
const MAX_DEPTH = 64

/** Whether an entry cannot change any more and is small, so that it can be written out later. */
export function isFixed({ kind, data }: NewEntry): boolean {
  // Gates are checked when they move.
  if (kind === 'gate-opened' || kind === 'gate-closed') return false
  const given: unknown = data
  if (kind === 'settlement') return ToolCall.isToolCall(given) && isPlainCall(given)
  if (kind === 'message') return Message.isMessage(given) && isPlainMessage(given)
  return isFrozenJson(given, { chars: MAX_CHARS }, MAX_DEPTH)
}

/** A record holds its arguments frozen and within their limits; these other fields have any size. */
function isPlainCall(call: ToolCall): boolean {
  const { results, rawArgs, effectiveArgs, providerData } = call
  const isPlain = rawArgs === undefined && effectiveArgs === undefined && providerData === undefined
  const hasOwnForm = (results as SpooledArtifact).toJSON !== SpooledArtifact.prototype.toJSON
  return Object.isFrozen(call) && isPlain && !hasOwnForm
}

function isPlainMessage(message: Message): boolean {
  const { content, attachments, providerData } = message
  const isShort = content !== undefined && content.text.length <= MAX_CHARS
  const isPlain = attachments.length === 0 && providerData === undefined
  return Object.isFrozen(message) && isShort && isPlain
}

function isFrozenJson(value: unknown, left: { chars: number }, depth: number): boolean {
  if (typeof value === 'string') return (left.chars -= value.length) > 0
  if (typeof value !== 'object' || value === null) {
    return typeof value !== 'bigint' && typeof value !== 'function'
  }
  if (depth === 0 || !Object.isFrozen(value) || 'toJSON' in value) return false
  for (const key of Object.keys(value)) {
    left.chars -= key.length + 1
    const member = (value as Record<string, unknown>)[key]
    if (left.chars <= 0 || !isFrozenJson(member, left, depth - 1)) return false
  }
  return true
}
