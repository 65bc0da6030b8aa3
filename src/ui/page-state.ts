import type { JsonObject } from '../core/json/json.ts'
import type { UiChunk, UiSettled } from './ui-chunk.ts'

/** A message as `useChat` holds it. */
export interface UiMessage {
  id: string
  role: 'user' | 'assistant'
  metadata?: JsonObject
  parts: UiPart[]
}

/** A part of a message: see `UIMessage` of `ai`. */
export interface UiPart {
  type: string
  [name: string]: unknown
}

const STEERING = 'data-steering-message'

type ChunkOf<Type extends UiChunk['type']> = UiChunk & { readonly type: Type }

/** What a page shows after the chunks that it got: the state that `useChat` would have. */
export class PageState {
  readonly messages: UiMessage[] = []
  /** The message that is being written; it is in the list once it has a part. */
  #message: UiMessage | undefined
  #hasQuestion = true
  readonly #texts = new Map<string, UiPart>()

  /** A message of the user. Later ones of a turn are parts of its answer, and come as chunks. */
  asked(id: string, text: string): void {
    if (this.#hasQuestion) return
    this.#hasQuestion = true
    const answered = this.#message && this.messages.indexOf(this.#message)
    const at = answered === undefined || answered < 0 ? this.messages.length : answered
    this.messages.splice(at, 0, { id, role: 'user', parts: [{ type: 'text', text }] })
  }

  /** Takes a message of the user off the page, with everything after it. */
  rewind(id: string): void {
    const at = this.messages.findIndex((message) => message.role === 'user' && message.id === id)
    if (at !== -1) {
      this.messages.length = at
      return
    }
    // A message that steered a turn is a part of its answer.
    for (const [answer, { parts }] of this.messages.entries()) {
      const part = parts.findIndex((one) => one.type === STEERING && one['id'] === id)
      if (part === -1) continue
      parts.length = part
      this.messages.length = answer + (part > 0 ? 1 : 0)
      return
    }
  }

  take(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'start':
        return this.#start(chunk)
      case 'finish':
      case 'message-metadata':
        return this.#describe(chunk.messageMetadata)
      case 'start-step':
        return this.#add({ type: 'step-start' })
      case 'text-start':
      case 'reasoning-start':
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        return this.#text(chunk)
      case 'tool-input-available':
        return this.#called(chunk)
      case 'tool-approval-request':
        return this.#change(chunk.toolCallId, {
          state: 'approval-requested',
          approval: { id: chunk.approvalId },
        })
      case 'tool-output-available': {
        const { output, preliminary } = chunk
        const change = { state: 'output-available', output, preliminary, errorText: undefined }
        return this.#change(chunk.toolCallId, change)
      }
      case 'tool-output-error': {
        const { errorText } = chunk
        return this.#change(chunk.toolCallId, { state: 'output-error', errorText })
      }
      case 'tool-output-denied':
        return this.#change(chunk.toolCallId, { state: 'output-denied' })
      case 'data-settled':
        return this.#settled(chunk.data)
      case 'data-gate':
      case 'data-handle':
      case STEERING:
        return this.#data(chunk)
      default:
    }
  }

  #start({ messageId, messageMetadata }: ChunkOf<'start'>): void {
    this.#texts.clear()
    const known = messageId === undefined ? this.#lastAnswer() : undefined
    this.#message = known ?? { id: messageId ?? '', role: 'assistant', parts: [] }
    this.#hasQuestion = known !== undefined
    this.#describe(messageMetadata)
  }

  #describe(metadata: JsonObject | undefined): void {
    if (this.#message === undefined || metadata === undefined) return
    this.#message.metadata = { ...this.#message.metadata, ...metadata }
  }

  #add(part: UiPart): void {
    const message = this.#message
    if (message === undefined) return
    if (message.parts.length === 0) this.messages.push(message)
    message.parts.push(part)
  }

  #text(chunk: ChunkOf<`${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}`>): void {
    const [type] = chunk.type.split('-') as ['text' | 'reasoning']
    const { id } = chunk
    if (chunk.type === 'text-start' || chunk.type === 'reasoning-start') {
      const part = { type, ...(type === 'reasoning' && { id }), text: '', state: 'streaming' }
      this.#texts.set(id, part)
      return this.#add(part)
    }
    const part = this.#texts.get(id)
    if (part === undefined) return
    if ('delta' in chunk) part['text'] += chunk.delta
    else {
      part['state'] = 'done'
      if (chunk.providerMetadata) part['providerMetadata'] = chunk.providerMetadata
    }
  }

  #called(chunk: ChunkOf<'tool-input-available'>): void {
    const { toolCallId, toolName, input, providerMetadata } = chunk
    const about = { toolName, state: 'input-available', input }
    const part = this.#call(toolCallId)
    const marks = { callProviderMetadata: providerMetadata }
    if (part !== undefined) Object.assign(part, about, marks)
    else this.#add({ type: 'dynamic-tool', toolCallId, ...about, ...marks })
  }

  #call(toolCallId: string): UiPart | undefined {
    return this.#message?.parts.findLast((part) => part['toolCallId'] === toolCallId)
  }

  #change(toolCallId: string, change: Readonly<Record<string, unknown>>): void {
    const part = this.#call(toolCallId)
    if (part !== undefined) Object.assign(part, change)
  }

  /** The end of a call of an earlier message: the page that shows it asks for no verdict any more. */
  #settled({ callId, text }: UiSettled): void {
    for (const { parts } of this.messages) {
      for (const part of parts) {
        const marks = part['callProviderMetadata'] as { bobbin?: { callId?: unknown } } | undefined
        if (marks?.bobbin?.callId !== callId) continue
        Object.assign(part, { state: 'output-error', errorText: text })
      }
    }
  }

  #data({ type, id, data }: ChunkOf<'data-gate' | 'data-handle' | 'data-steering-message'>): void {
    // A new message may close the gate of an earlier one.
    const parts = this.messages.flatMap((message) => message.parts)
    const known = parts.find((part) => part.type === type && part['id'] === id)
    if (known !== undefined) known['data'] = data
    else this.#add({ type, id, data })
  }

  #lastAnswer(): UiMessage | undefined {
    return this.messages.findLast(({ role }) => role === 'assistant')
  }
}
