import { resultText } from '../records/result-text.ts'
import type { FeedProgress, FeedToolCall } from '../store/feed/feed-event.ts'
import type { Gate } from '../store/gate.ts'
import type { UiChunk, UiGate } from './ui-chunk.ts'
import { handlesIn, outputOf } from './ui-result.ts'

/** The calls and gates of one message, and how the page names them. */
export class ShownCalls {
  /** The id of a call on the page, by the id of its record: arguments stream before the call has an id. */
  readonly #shown = new Map<string, string>()
  /** The gates that wait, by call, the one that the page asks about first. */
  readonly #waiting = new Map<string, string[]>()
  readonly #isContinued: boolean

  /** `isContinued` tells that the message began in an earlier stream, whose calls this one finishes. */
  constructor(isContinued: boolean) {
    this.#isContinued = isContinued
  }

  announced(call: FeedToolCall): readonly UiChunk[] {
    const { id, tool, args, inputId = id } = call
    return [this.#show(id, inputId, tool, args)]
  }

  async settled(call: FeedToolCall): Promise<readonly UiChunk[]> {
    const { id, tool, args, settlement = 'ok' } = call
    this.#waiting.delete(id)
    if (!this.#shown.has(id) && !this.#isContinued) {
      const data = { toolCallId: id, callId: id, settlement, text: textOf(call) }
      return [{ type: 'data-settled', id, data }]
    }
    const first = this.#shown.has(id) ? [] : [this.#show(id, id, tool, args)]
    const toolCallId = this.#shown.get(id) ?? id
    if (settlement === 'denied') return [...first, { type: 'tool-output-denied', toolCallId }]
    if (settlement !== 'ok' && settlement !== 'edited') {
      const errorText = textOf(call) || `The call ended as ${settlement}.`
      return [...first, { type: 'tool-output-error', toolCallId, errorText, dynamic: true }]
    }
    const output = settlement === 'ok' ? await outputOf(call) : { settlement, text: textOf(call) }
    const handles = settlement === 'ok' ? handlesIn(output as never) : []
    return [
      ...first,
      { type: 'tool-output-available', toolCallId, output, dynamic: true },
      ...handles.map((result, at): UiChunk => {
        const data = { toolCallId, callId: id, result }
        return { type: 'data-handle', id: `${toolCallId}/${at}`, data }
      }),
    ]
  }

  progress({ toolCallId: id, update }: FeedProgress): readonly UiChunk[] {
    const toolCallId = this.#shown.get(id)
    if (toolCallId === undefined) return []
    const output = { type: 'tool-output-available', toolCallId, output: update } as const
    return [{ ...output, dynamic: true, preliminary: true }]
  }

  gateOpened(gate: Gate): readonly UiChunk[] {
    const call = gate.toolCallId
    const data = this.#gateChunk(gate)
    if (call === undefined || gate.kind !== 'approval') return [data]
    const waiting = this.#waiting.get(call) ?? []
    waiting.push(gate.id)
    this.#waiting.set(call, waiting)
    return waiting.length > 1 ? [data] : [data, ...this.#ask(call)]
  }

  gateDecided(gate: Gate): readonly UiChunk[] {
    const { toolCallId: call, tool = '', args, inputId } = gate
    if (call === undefined) return [this.#gateChunk(gate)]
    const isMissing = !this.#shown.has(call) && this.#isContinued
    // A call of an earlier stream: the page knows it already, and gets it again so that this stream is whole.
    const first = isMissing ? [this.#show(call, inputId ?? call, tool, args)] : []
    const waiting = this.#waiting.get(call)?.filter((id) => id !== gate.id) ?? []
    this.#waiting.set(call, waiting)
    return [...first, this.#gateChunk(gate), ...this.#ask(call)]
  }

  /** Asks the page about the first gate of a call that waits; it can show one at a time. */
  #ask(call: string): readonly UiChunk[] {
    const [approvalId] = this.#waiting.get(call) ?? []
    const toolCallId = this.#shown.get(call)
    if (approvalId === undefined || toolCallId === undefined) return []
    return [{ type: 'tool-approval-request', approvalId, toolCallId }]
  }

  #show(callId: string, toolCallId: string, toolName: string, input: unknown): UiChunk {
    this.#shown.set(callId, toolCallId)
    const call = { toolCallId, toolName, input, dynamic: true } as const
    return { type: 'tool-input-available', ...call, providerMetadata: { bobbin: { callId } } }
  }

  #gateChunk(gate: Gate): UiChunk {
    const { id, kind, why, state, digest, expiresAt, toolCallId, tool, args } = gate
    const { message, schema, url, decision } = gate
    const call = toolCallId !== undefined && {
      toolCallId: this.#shown.get(toolCallId) ?? toolCallId,
    }
    const data: UiGate = {
      ...{ id, kind, why, state, digest, expiresAt, ...call },
      ...(tool !== undefined && { tool }),
      ...(args !== undefined && { args }),
      ...(message !== undefined && { message }),
      ...(schema !== undefined && { schema }),
      ...(url !== undefined && { url }),
      ...(decision && { verdict: decision.verdict, decidedBy: decision.decidedBy }),
    }
    return { type: 'data-gate', id, data }
  }
}

const textOf = (call: FeedToolCall): string => resultText(call) ?? ''
