import { type Attributes, type Context, SpanKind } from '@opentelemetry/api'
import type { ModelEvent, Usage } from '../model/events/model-event.ts'
import type { Model, ModelRequest } from '../model/model.ts'
import type {
  ModelCallTrace,
  Scrub,
  TracedFinish,
  TracedModelCall,
} from '../turn/events/telemetry.ts'
import { listText, messagesOf } from './content.ts'
import { ATTRIBUTE, finishReason, OPERATION, providerName } from './conventions.ts'
import { UNKNOWN_MODALITY } from './instruments.ts'
import { errorType, OpenSpan } from './open-span.ts'
import { safely } from './safely.ts'
import { errorMessage, type Tracing } from './tracing.ts'

/** The token counts of a usage as attributes. */
export function usageAttributes(usage: Usage): Attributes {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage
  return {
    [ATTRIBUTE.inputTokens]: inputTokens,
    [ATTRIBUTE.outputTokens]: outputTokens,
    ...(cachedInputTokens !== undefined && { [ATTRIBUTE.cacheReadTokens]: cachedInputTokens }),
    ...(cacheWriteTokens !== undefined && { [ATTRIBUTE.cacheWriteTokens]: cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { [ATTRIBUTE.reasoningTokens]: reasoningTokens }),
  }
}

/** One request to a model: the span `chat`. */
export class ModelCallSpan implements ModelCallTrace {
  readonly #tracing: Tracing
  readonly #span: OpenSpan
  readonly #scrub: Scrub
  /** What spans and metrics have in common. */
  readonly #about: Attributes
  #isAnswered = false

  constructor(
    tracing: Tracing,
    parent: Context,
    conversation: string,
    call: TracedModelCall,
    scrub: Scrub,
  ) {
    this.#tracing = tracing
    this.#scrub = scrub
    const { id, provider, model, attempt = 1 } = call
    this.#about = {
      [ATTRIBUTE.operation]: OPERATION.modelCall,
      [ATTRIBUTE.provider]: providerName(provider),
      [ATTRIBUTE.requestModel]: model,
    }
    this.#span = new OpenSpan({
      tracer: tracing.tracer,
      name: `${OPERATION.modelCall} ${model}`,
      parent,
      attributes: {
        ...this.#about,
        [ATTRIBUTE.conversation]: conversation,
        [ATTRIBUTE.modelCallId]: id,
        ...(attempt > 1 && { [ATTRIBUTE.attempt]: attempt }),
      },
      kind: SpanKind.CLIENT,
    })
  }

  /** A client that makes spans by itself would tell the same request twice. */
  within(
    { traces = false }: Model,
    request: ModelRequest,
    ask: () => AsyncIterable<ModelEvent>,
  ): AsyncIterable<ModelEvent> {
    this.#describe(request)
    const span = this.#span
    const inside = <T>(work: () => T): T =>
      traces ? span.withinSuppressed(work) : span.within(work)
    return {
      [Symbol.asyncIterator]() {
        const events = inside(() => ask()[Symbol.asyncIterator]())
        return {
          next: () => inside(() => events.next()),
          return: async (value?: unknown) =>
            (await inside(() => events.return?.(value))) ?? { done: true, value },
        }
      },
    }
  }

  #describe({ instructions, items, output }: ModelRequest): void {
    if (!this.#span.isRecording) return
    if (output !== undefined) this.#span.set({ [ATTRIBUTE.outputType]: 'json' })
    if (!this.#tracing.content) return
    safely(() => {
      this.#span.set({
        [ATTRIBUTE.input]: this.#listed(messagesOf(items)),
        ...(instructions && {
          [ATTRIBUTE.instructions]: this.#listed([{ type: 'text', content: instructions }]),
        }),
      })
    })
  }

  readonly #listed = (list: readonly ReturnType<Scrub>[]): string =>
    listText(list.map((each) => this.#scrub(each)))

  answered(): void {
    if (this.#isAnswered || this.#span.isOver) return
    this.#isAnswered = true
    const seconds = this.#span.elapsed
    this.#span.set({ [ATTRIBUTE.timeToFirstChunk]: seconds })
    this.#tracing.measure('firstChunk', seconds, this.#about)
  }

  ended({ reason, usage, items }: TracedFinish): void {
    if (this.#span.isOver) return
    if (this.#span.isRecording) {
      this.#span.set({
        [ATTRIBUTE.finishReasons]: [finishReason(reason)],
        ...(usage && usageAttributes(usage)),
      })
      if (this.#tracing.content && items) {
        safely(() => this.#span.set({ [ATTRIBUTE.output]: this.#listed(messagesOf(items)) }))
      }
    }
    this.#close(usage)
  }

  failed(error: unknown): void {
    if (this.#span.isOver) return
    const type = errorType(error)
    this.#span.fail(type, errorMessage(this.#tracing, error, this.#scrub))
    this.#close(undefined, { [ATTRIBUTE.error]: type })
  }

  #close(usage: Usage | undefined, failure: Attributes = {}): void {
    const { measure } = this.#tracing
    measure('modelDuration', this.#span.end(), { ...this.#about, ...failure })
    const about = { ...this.#about, ...UNKNOWN_MODALITY }
    measure('inputTokens', usage?.inputTokens ?? 0, about)
    measure('outputTokens', usage?.outputTokens ?? 0, about)
    if (usage?.cachedInputTokens) measure('cacheReadTokens', usage.cachedInputTokens, about)
    if (usage?.cacheWriteTokens) measure('cacheWriteTokens', usage.cacheWriteTokens, about)
    if (usage?.reasoningTokens) measure('reasoningTokens', usage.reasoningTokens, about)
  }
}
