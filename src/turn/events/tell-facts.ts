import { checksum as checksumOf } from '../../core/checksum.ts'
import { utcTime } from '../../core/fields.ts'
import { resultText } from '../../records/result-text.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { AskedCall } from '../log/call-state.ts'
import type { LogFollower } from '../log/conversation-log.ts'
import { type Fact, isDoubt } from '../log/fact.ts'
import type { LogState } from '../log/log-state.ts'
import type { TurnEmitter } from './event-bus.ts'

/** Emits events for facts that are durable: calls when they are asked and when they settle, and doubts. */
export function tellFacts(events: TurnEmitter, state: LogState): LogFollower {
  const inputs = new Map<string, string>()
  return {
    apply: (facts) => {
      for (const fact of facts) tellFact(events, fact, state, inputs)
      inputs.clear()
    },
  }
}

/** `inputs` holds the streams of a provider's calls until the settlement in the same commit announces them. */
function tellFact(
  events: TurnEmitter,
  fact: Fact,
  state: LogState,
  inputs: Map<string, string>,
): void {
  if (fact.kind === 'call') tellAsked(events, askedContent(fact.call))
  else if (fact.kind === 'item') {
    if (fact.inputId !== undefined) inputs.set(fact.id, fact.inputId)
    tellProvided(events, fact)
  } else if (fact.kind === 'settlement') {
    const { record } = fact
    const { id, executedBy } = record
    // A provider's call that came with its result is announced only now.
    if (executedBy === 'provider' && state.providerCall(id) === undefined)
      tellAsked(events, { ...recordedContent(record), inputId: inputs.get(id) })
    tellSettled(events, record)
  } else if (fact.kind === 'intent' && fact.intent.editOf !== undefined) {
    // A call with edited arguments is a call of its own.
    const { id, tool, args, checksum, createdAt } = fact.intent
    tellAsked(events, { id, tool, args, checksum, askedAt: Date.parse(createdAt) })
  } else if (isDoubt(fact)) {
    const { toolCallId } = fact.note.data as { readonly toolCallId: string }
    events.observed('warning', { code: 'IN_DOUBT', message: fact.note.message, toolCallId })
  }
}

interface Asked {
  readonly id: string
  readonly tool: string
  readonly args: unknown
  readonly checksum: string
  readonly askedAt: number
  readonly inputId?: string | undefined
}

const askedContent = ({ item, checksum, askedAt, inputId }: AskedCall): Asked => {
  const { id, tool, args } = item
  return { id, tool, args, checksum, askedAt, inputId }
}

const recordedContent = ({ id, tool, args, checksum, createdAt }: ToolCall): Asked => ({
  id,
  tool,
  args,
  checksum,
  askedAt: createdAt.toMillis(),
})

/** A call that its provider leaves open is announced when it is asked for. */
function tellProvided(
  events: TurnEmitter,
  { id, item, askedAt = 0, inputId }: Fact & { kind: 'item' },
): void {
  if (item.type !== 'openCall') return
  const { tool, args } = item
  tellAsked(events, { id, tool, args, checksum: checksumOf(tool, args), askedAt, inputId })
}

function tellAsked(events: TurnEmitter, asked: Asked): void {
  if (!events.buses.content.has('toolCall')) return
  const { id, tool, args, checksum, askedAt, inputId } = asked
  const createdAt = utcTime(askedAt)
  const state = { isComplete: false, isError: false, createdAt, updatedAt: createdAt }
  const input = inputId !== undefined && { inputId }
  events.content('toolCall', { id, tool, ...input, args, checksum, ...state })
}

function tellSettled(events: TurnEmitter, record: ToolCall): void {
  if (!events.buses.content.has('toolCall')) return
  const { id, tool, args, checksum, isError, settlement, createdAt, updatedAt, completedAt } =
    record
  const results = resultText(record) ?? record.results
  const content = { id, tool, args, checksum, results, isComplete: true, isError, settlement }
  const media = record.media && { media: record.media }
  events.content('toolCall', { ...content, ...media, createdAt, updatedAt, completedAt })
}
