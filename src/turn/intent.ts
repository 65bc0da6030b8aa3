import { isNormalized } from '../core/argument-facts.ts'
import type { Mutable } from '../core/mutable.ts'
import type { Intent, NewEntry } from '../store/entry.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './asked-call.ts'
import type { Turn } from './turn.ts'

/** What a call is about to do. The key stays the same for every attempt at it. */
export function intentOf(turn: Turn, asked: AskedCall, tool: Tool): Intent {
  const { id, request, item } = asked
  const { tool: name, args, checksum } = request
  const key = idempotencyKey(turn, id)
  const createdAt = isoText(asked.createdAt)
  const { effect } = tool
  const { wire } = item
  // What is added to an object is held in a second one: most intents are written as they are.
  if (effect !== undefined && wire.api !== 'executor') {
    return { id, tool: name, args, checksum, idempotencyKey: key, createdAt, effect, wire }
  }
  const intent: Mutable<Intent> = {
    id,
    tool: name,
    args,
    checksum,
    idempotencyKey: key,
    createdAt,
  }
  if (effect !== undefined) intent.effect = effect
  if (wire.api !== 'executor') intent.wire = wire
  return intent
}

let lastTime = Number.NaN
let lastText = ''

/** Calls of one millisecond share the text of their time, which takes as long to write as the rest. */
function isoText(millis: number): string {
  if (millis !== lastTime) {
    lastText = new Date(millis).toISOString()
    lastTime = millis
  }
  return lastText
}

/** The same for every attempt at a call. */
export const idempotencyKey = ({ conversation }: Turn, callId: string): string =>
  conversation.keyPrefix + callId

/** The entry that makes an intent durable. */
export function intentEntry(turnId: string, intent: Intent): NewEntry {
  const { args, wire } = intent
  const isLasting = isNormalized(args) && Object.isFrozen(wire ?? OWN)
  if (!isLasting) return { kind: 'intent', turnId, data: intent }
  return LastingEntry.of('intent', turnId, Object.freeze(intent))
}

const OWN = Object.freeze({})
