import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { ModelEvent, Usage } from '../model/events/model-event.ts'
import type { Model, ModelRequest } from '../model/model.ts'
import type {
  ModelCallTrace,
  Scrub,
  TracedFinish,
  TracedModelCall,
} from '../turn/events/telemetry.ts'
import { listText, messagesOf, responseMessage } from './content.ts'
import { ATTRIBUTE, finishReason, OPERATION, providerName, SUMMARY } from './conventions.ts'
import { UNKNOWN_MODALITY } from './instruments.ts'
import { errorType, OpenSpan } from './open-span.ts'
import { safely } from './safely.ts'
import { errorMessage, type Owner, type Tracing } from './tracing.ts'

const TOKENS = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const

/** The token counts that a provider reported, by the names of their attributes and metrics. */
function tokensIn(usage: Partial<Usage>) {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage
  const counts = {
    inputTokens,
    outputTokens,
    cacheReadTokens: cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens,
  }
  return TOKENS.flatMap((name) => {
    const count = counts[name]
    return count === undefined ? [] : [[name, count] as const]
  })
}

/** The token counts of a usage as attributes. */
export const usageAttributes = (usage: Partial<Usage>): Attributes =>
  Object.fromEntries(tokensIn(usage).map(([name, count]) => [ATTRIBUTE[name], count]))

/** One request to a model: the span `chat`. */
export class ModelCallSpan implements ModelCallTrace {
  readonly #tracing: Tracing
  readonly #span: OpenSpan
  readonly #scrub: Scrub
  /** What spans and metrics have in common. */
  readonly #about: Attributes
  #isAnswered = false
  #isStreaming = false

  constructor(
    tracing: Tracing,
    { context, conversation, agent }: Owner,
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
      parent: context,
      attributes: {
        ...this.#about,
        ...(conversation !== undefined && { [ATTRIBUTE.conversation]: conversation }),
        ...(agent !== undefined && { [ATTRIBUTE.agent]: agent }),
        ...(id === undefined ? { [ATTRIBUTE.purpose]: SUMMARY } : { [ATTRIBUTE.modelCallId]: id }),
        ...(attempt > 1 && { [ATTRIBUTE.attempt]: attempt }),
      },
      kind: SpanKind.CLIENT,
    })
  }

  get isOver(): boolean {
    return this.#span.isOver
  }

  /** A client that makes spans by itself would tell the same request twice. */
  within(
    { traces = false, streams = false }: Model,
    request: ModelRequest,
    ask: () => AsyncIterable<ModelEvent>,
  ): AsyncIterable<ModelEvent> {
    this.#describe(request)
    if (streams) this.#streams()
    const span = this.#span
    const inside = <T>(work: () => T): T =>
      traces ? span.withinSuppressed(work) : span.within(work)
    let isFirst = true
    const look = ({ done, value }: IteratorResult<ModelEvent, unknown>) => {
      isFirst = false
      // A whole response comes as one event.
      if (!done && value.type !== 'finish') this.#streams()
    }
    return {
      [Symbol.asyncIterator]() {
        const events = inside(() => ask()[Symbol.asyncIterator]())
        return {
          async next() {
            const event = await inside(() => events.next())
            if (isFirst) look(event)
            return event
          },
          return: async (value?: unknown) =>
            (await inside(() => events.return?.(value))) ?? { done: true, value },
        }
      },
    }
  }

  #streams(): void {
    if (this.#isStreaming) return
    this.#isStreaming = true
    this.#span.set({ [ATTRIBUTE.requestStream]: true })
  }

  #describe({ instructions, items, output }: ModelRequest): void {
    if (!this.#span.isRecording) return
    if (output !== undefined) this.#span.set({ [ATTRIBUTE.outputType]: 'json' })
    if (!this.#tracing.content) return
    safely(() => {
      this.#span.set({
        [ATTRIBUTE.input]: listText(messagesOf(items), this.#scrub),
        ...(instructions && {
          [ATTRIBUTE.instructions]: listText(
            [{ type: 'text', content: instructions }],
            this.#scrub,
          ),
        }),
      })
    })
  }

  answered(): void {
    if (this.#isAnswered || this.#span.isOver) return
    this.#isAnswered = true
    if (!this.#isStreaming) return
    const seconds = this.#span.elapsed
    this.#span.set({ [ATTRIBUTE.timeToFirstChunk]: seconds })
    this.#tracing.measure('firstChunk', seconds, this.#about)
  }

  ended({ reason: given, usage, items }: TracedFinish): void {
    if (this.#span.isOver) return
    if (this.#span.isRecording) {
      const reason = finishReason(given)
      this.#span.set({
        [ATTRIBUTE.finishReasons]: [reason],
        ...(usage && usageAttributes(usage)),
      })
      if (this.#tracing.content && items) {
        safely(() => {
          const messages = listText([responseMessage(items, reason)], this.#scrub)
          this.#span.set({ [ATTRIBUTE.output]: messages })
        })
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

  left(): void {
    if (!this.#span.isOver) this.#close(undefined)
  }

  #close(usage: Usage | undefined, failure: Attributes = {}): void {
    const { measure } = this.#tracing
    measure('modelDuration', this.#span.end(), { ...this.#about, ...failure })
    if (usage === undefined) return
    const about = { ...this.#about, ...UNKNOWN_MODALITY }
    for (const [name, count] of tokensIn(usage)) measure(name, count, about)
  }
}
