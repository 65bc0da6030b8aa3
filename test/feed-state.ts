import type { FeedEvent } from '../src/store/feed/feed-event.ts'

interface Text {
  readonly type: string
  readonly text: string
  readonly modelCall?: string | undefined
  readonly isComplete: boolean
  readonly partial?: boolean
}

/** What a reader of a feed knows, by the rules of the documentation. Two readers of one feed must agree. */
export class FeedState {
  readonly texts = new Map<string, Text>()
  readonly calls = new Map<string, { readonly state: string; readonly progress?: unknown }>()
  readonly gates = new Map<string, string>()
  readonly turns = new Map<string, string>()
  readonly modelCalls: string[] = []

  apply(event: FeedEvent): void {
    switch (event.type) {
      case 'turnStart':
        this.#void()
        this.turns.set(event.turnId, 'runs')
        break
      case 'turnEnd':
        this.#void()
        this.turns.set(event.turnId, event.status)
        break
      case 'message':
      case 'thought':
      case 'toolInput':
        this.#text(event)
        break
      case 'toolCall':
        if (event.modelCall !== undefined) this.#void()
        this.calls.set(event.id, { state: event.settlement ?? 'asked' })
        break
      case 'progress': {
        const { state = '' } = this.calls.get(event.toolCallId) ?? {}
        this.calls.set(event.toolCallId, { state, progress: event.update })
        break
      }
      case 'gateOpened':
      case 'gateDecided':
        this.gates.set(event.gate.id, event.gate.state)
        break
      case 'modelCall':
        this.#void()
        this.modelCalls.push(event.id)
        break
      case 'warning':
        if (event.code === 'MODEL_RETRY') this.#void()
        break
      default:
    }
  }

  #text(event: FeedEvent & { readonly type: 'message' | 'thought' | 'toolInput' }): void {
    const { type, id, modelCall } = event
    if (event.isComplete === true) {
      if (modelCall !== undefined) this.#void()
      const partial = 'partial' in event && event.partial && { partial: true }
      this.texts.set(id, { type, text: event.text, isComplete: true, ...partial })
      return
    }
    // One model call streams at a time: what the one before did not finish is void.
    this.#void((text) => text.modelCall !== modelCall)
    const before = event.text === undefined ? (this.texts.get(id)?.text ?? '') : ''
    const text = before + (event.text ?? event.delta)
    this.texts.set(id, { type, text, modelCall, isComplete: false })
  }

  /** Drops what streamed and was not stored. */
  #void(isVoid: (text: Text) => boolean = () => true): void {
    for (const [id, text] of this.texts) {
      if (!text.isComplete && isVoid(text)) this.texts.delete(id)
    }
  }

  /** Everything in it, for a comparison. */
  toJSON(): unknown {
    const { texts, calls, gates, turns, modelCalls } = this
    return {
      texts: [...texts],
      calls: [...calls],
      gates: [...gates],
      turns: [...turns],
      modelCalls,
    }
  }
}
