import type { Intent, NewEntry } from '../store/entry.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './ask-calls.ts'
import type { Turn } from './turn.ts'

/** What a call is about to do. The key stays the same for every attempt at it. */
export function intentOf(turn: Turn, asked: AskedCall, tool: Tool): Intent {
  const { id, request, createdAt, item } = asked
  return {
    id,
    tool: request.tool,
    args: request.args,
    checksum: request.checksum,
    ...(tool.effect !== undefined && { effect: tool.effect }),
    idempotencyKey: `${turn.conversation.id}/${id}`,
    createdAt: new Date(createdAt).toISOString(),
    ...(item.wire.api !== 'executor' && { wire: item.wire }),
  }
}

/** The entry that makes an intent durable. */
export function intentEntry(turnId: string, intent: Intent): NewEntry {
  const isBrief = intent.effectiveArgs === undefined && Object.isFrozen(intent.wire ?? OWN)
  if (!isBrief) return { kind: 'intent', turnId, data: intent }
  return LastingEntry.of('intent', turnId, Object.freeze(intent))
}

const OWN = Object.freeze({})
