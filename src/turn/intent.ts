import { isoTime } from '../core/fields.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Intent, NewEntry } from '../store/entry.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './ask-calls.ts'
import type { Turn } from './turn.ts'

/** What a call is about to do. The key stays the same for every attempt at it. */
export function intentOf(turn: Turn, asked: AskedCall, tool: Tool): Intent {
  const { id, request, createdAt, item } = asked
  const intent: Mutable<Intent> = {
    id,
    tool: request.tool,
    args: request.args,
    checksum: request.checksum,
    idempotencyKey: idempotencyKey(turn, id),
    createdAt: new Date(createdAt).toISOString(),
  }
  if (tool.effect !== undefined) intent.effect = tool.effect
  if (item.wire.api !== 'executor') intent.wire = item.wire
  return intent
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** The same for every attempt at a call. */
export const idempotencyKey = ({ conversation }: Turn, callId: string): string =>
  `${conversation.id}/${callId}`

/** The entry that makes an intent durable. */
export function intentEntry(turnId: string, intent: Intent): NewEntry {
  const isBrief = intent.effectiveArgs === undefined && Object.isFrozen(intent.wire ?? OWN)
  if (!isBrief) return { kind: 'intent', turnId, data: intent }
  return LastingEntry.of('intent', turnId, Object.freeze(intent))
}

const OWN = Object.freeze({})

/** The entry for the intent of a `read`, which comes with its settlement. */
export function readIntentEntry(turn: Turn, call: ToolCall): NewEntry {
  const intent = new ReadIntent(idempotencyKey(turn, call.id), call)
  return LastingEntry.of('intent', turn.id, intent as unknown as Intent)
}

/** All that such an intent says is in the record, and nobody may ever read it. */
class ReadIntent {
  readonly #key: string
  readonly #call: ToolCall

  constructor(key: string, call: ToolCall) {
    this.#key = key
    this.#call = call
  }

  get id(): string {
    return this.#call.id
  }

  get tool(): string {
    return this.#call.tool
  }

  get checksum(): string {
    return this.#call.checksum
  }

  toJSON(): Intent {
    const { id, tool, args, checksum, createdAt, wire } = this.#call
    return {
      id,
      tool,
      args,
      checksum,
      idempotencyKey: this.#key,
      createdAt: isoTime(createdAt),
      effect: 'read',
      ...(wire && { wire }),
    }
  }
}
