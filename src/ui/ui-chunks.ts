import type { FeedEvent, FeedTurnEnd, FeedWarning } from '../store/feed/feed-event.ts'
import { OpenTexts, type StreamedText } from './open-texts.ts'
import { ShownCalls } from './shown-calls.ts'
import type { UiChunk } from './ui-chunk.ts'

/** The major versions of `ai` whose pages can be served. */
export type AiVersion = 6 | 7

type EventOf<Type extends FeedEvent['type']> = FeedEvent & { readonly type: Type }

/** Translates the events of a feed into chunks of the UI message stream, one chain of turns into one message. */
export class UiChunks {
  readonly #version: AiVersion
  #texts = new OpenTexts()
  #calls = new ShownCalls(true)
  #isStarted = false
  /** The model call whose step is open; if it failed, the next one takes its step. */
  #step: string | undefined
  #isAgain = false
  #hasQuestion = false

  constructor(version: AiVersion) {
    this.#version = version
  }

  /** The chunks of an event. Give it the events of a feed in order. */
  async take(event: FeedEvent): Promise<readonly UiChunk[]> {
    switch (event.type) {
      case 'turnStart':
        return this.#turnStart(event)
      case 'turnEnd':
        return [...this.#leaveStep(), ...endChunks(event)]
      case 'message':
        return 'role' in event && event.role === 'user'
          ? this.#asked(event.id, event.text)
          : this.#text(event)
      case 'thought':
      case 'toolInput':
        return this.#text(event)
      case 'toolCall': {
        if (event.isComplete) return this.#calls.settled(event)
        if (event.inputId !== undefined) this.#texts.close(event.inputId)
        return [...this.#enterStep(event.modelCall), ...this.#calls.announced(event)]
      }
      case 'progress':
        return this.#calls.progress(event)
      case 'gateOpened':
        return this.#calls.gateOpened(event.gate)
      case 'gateDecided':
        return this.#calls.gateDecided(event.gate)
      case 'modelCall':
        return 'error' in event && event.error !== undefined ? this.#void() : []
      case 'warning':
        return this.#warned(event)
      default:
        return []
    }
  }

  #turnStart({ input, continues, turnId, conversation }: EventOf<'turnStart'>): UiChunk[] {
    const isNew = input === 'run'
    const messageMetadata = { conversation, turnId }
    // The page has the message already, and continues it.
    if (!isNew && this.#isStarted) return [{ type: 'message-metadata', messageMetadata }]
    this.#isStarted = true
    this.#hasQuestion = !isNew
    this.#texts = new OpenTexts()
    this.#calls = new ShownCalls(!isNew)
    const messageId = continues ?? (isNew ? turnId : undefined)
    return [{ type: 'start', ...(messageId !== undefined && { messageId }), messageMetadata }]
  }

  /** The first message of the user is the page's own. Another one came while the turn ran. */
  #asked(id: string, text: string): UiChunk[] {
    if (!this.#hasQuestion) {
      this.#hasQuestion = true
      return []
    }
    if (this.#version === 7) {
      return [{ type: 'steering-message', id, parts: [{ type: 'text', text }] }]
    }
    return [{ type: 'data-steering-message', id, data: { text } }]
  }

  #text(event: StreamedText): UiChunk[] {
    return [...this.#enterStep(event.modelCall), ...this.#texts.take(event)]
  }

  /** One step per model call. */
  #enterStep(modelCall: string | undefined): UiChunk[] {
    if (modelCall === undefined || modelCall === this.#step) return []
    const isAgain = this.#isAgain && this.#step !== undefined
    const left = isAgain ? [] : this.#leaveStep()
    this.#isAgain = false
    this.#step = modelCall
    return isAgain ? left : [...left, { type: 'start-step' }]
  }

  #leaveStep(): UiChunk[] {
    if (this.#step === undefined) return []
    this.#step = undefined
    this.#isAgain = false
    return [...this.#texts.drop(), { type: 'finish-step' }]
  }

  /** Voids what streams: its model call has failed. */
  #void(): UiChunk[] {
    if (this.#texts.isEmpty) return []
    this.#isAgain = true
    if (this.#version === 6) return [...this.#texts.drop()]
    this.#texts.forget()
    return [{ type: 'reset-step' }]
  }

  #warned({ code, message }: FeedWarning): UiChunk[] {
    if (code === 'TURN_LOST') {
      return [...this.#leaveStep(), { type: 'error', errorText: `The turn was lost (${code}).` }]
    }
    const warning: UiChunk = { type: 'data-warning', data: { code, message }, transient: true }
    return code === 'MODEL_RETRY' ? [...this.#void(), warning] : [warning]
  }
}

/** How the turn ended. Errors have codes only: their messages may hold what a page must not see. */
function endChunks({ status, reason, usage }: FeedTurnEnd): readonly UiChunk[] {
  const code = reason?.errorCode ?? reason?.code
  const messageMetadata = {
    status,
    // Null takes the place of what an earlier turn of the message said.
    reason: reason?.code ?? null,
    ...(usage && { usage: { ...usage } as never }),
  }
  const metadata: UiChunk = { type: 'message-metadata', messageMetadata }
  if (status === 'failed') {
    return [metadata, { type: 'error', errorText: `The turn failed (${code ?? 'unknown'}).` }]
  }
  if (status === 'aborted') return [metadata, { type: 'abort', ...(code && { reason: code }) }]
  const finishReason =
    status === 'completed' ? 'stop' : status === 'suspended' ? 'tool-calls' : 'other'
  return [{ type: 'finish', finishReason, messageMetadata }]
}
