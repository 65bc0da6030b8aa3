import { type Attributes, type Context, type SpanContext, SpanKind } from '@opentelemetry/api'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { TraceContext } from '../tools/tool-context.ts'
import type { Scrub, ToolCallTrace, TracedToolCall } from '../turn/events/telemetry.ts'
import { MAX_CONTENT } from './content.ts'
import { ATTRIBUTE, OPERATION } from './conventions.ts'
import { errorType, OpenSpan } from './open-span.ts'
import { contentText, errorMessage, type Tracing } from './tracing.ts'

/** How a call looks that a client asked a server for. */
export interface Served {
  readonly name: string
  readonly attributes: Attributes
  /** The span of the transport. */
  readonly beside: SpanContext | undefined
}

/** One call: the span `execute_tool`. */
export class ToolCallSpan implements ToolCallTrace {
  readonly #tracing: Tracing
  readonly #span: OpenSpan
  readonly #scrub: Scrub
  readonly #about: Attributes
  readonly #duration: 'toolDuration' | 'servedDuration'

  constructor(
    tracing: Tracing,
    parent: Context,
    call: TracedToolCall,
    scrub: Scrub,
    served?: Served,
  ) {
    this.#tracing = tracing
    this.#scrub = scrub
    const { id, tool, description, checksum, args } = call
    this.#about = {
      [ATTRIBUTE.operation]: OPERATION.toolCall,
      [ATTRIBUTE.tool]: tool,
      ...served?.attributes,
    }
    this.#duration = served ? 'servedDuration' : 'toolDuration'
    this.#span = new OpenSpan({
      tracer: tracing.tracer,
      name: served?.name ?? `${OPERATION.toolCall} ${tool}`,
      ...(served && { kind: SpanKind.SERVER, beside: served.beside }),
      parent,
      attributes: {
        ...this.#about,
        [ATTRIBUTE.toolType]: 'function',
        [ATTRIBUTE.toolCall]: id,
        [ATTRIBUTE.checksum]: checksum,
      },
    })
    if (!tracing.content || !this.#span.isRecording) return
    this.#span.set({
      [ATTRIBUTE.toolDescription]: contentText(description, scrub),
      [ATTRIBUTE.toolArguments]: contentText(args, scrub),
    })
  }

  get place(): TraceContext | undefined {
    return this.#span.place
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    return this.#span.within(work)
  }

  settled(record: ToolCall): void | Promise<void> {
    if (this.#span.isOver) return
    const { settlement, isError } = record
    const seconds = this.#span.stop()
    this.#tracing.measure(this.#duration, seconds, {
      ...this.#about,
      ...(isError && { [ATTRIBUTE.error]: settlement }),
    })
    const { isRecording } = this.#span
    if (isRecording) this.#describe(record)
    if (isRecording && this.#tracing.content) return this.#tellResult(record)
    this.#span.end()
  }

  #describe({ settlement, isError, results, digest }: ToolCall): void {
    const artifacts = artifactsIn(results).map((artifact) => artifact.digest)
    this.#span.set({
      [ATTRIBUTE.settlement]: settlement,
      [ATTRIBUTE.digest]: digest,
      ...(artifacts.length > 0 && { [ATTRIBUTE.artifact]: artifacts }),
    })
    if (isError) this.#span.fail(settlement)
  }

  async #tellResult({ results }: ToolCall): Promise<void> {
    try {
      const isText = Tokenizable.isTokenizable(results)
      const text = isText ? results.text : await textOf(artifactsIn(results))
      this.#span.set({ [ATTRIBUTE.toolResult]: contentText(text, this.#scrub) })
    } finally {
      this.#span.end()
    }
  }

  waits(): void {
    if (this.#span.isOver) return
    this.#span.set({ [ATTRIBUTE.settlement]: 'waiting' })
    this.#tracing.measure(this.#duration, this.#span.end(), this.#about)
  }

  failed(error: unknown): void {
    if (this.#span.isOver) return
    const type = errorType(error)
    this.#span.fail(type, errorMessage(this.#tracing, error, this.#scrub))
    const about = { ...this.#about, [ATTRIBUTE.error]: type }
    this.#tracing.measure(this.#duration, this.#span.end(), about)
  }
}

const artifactsIn = (results: unknown): readonly SpooledArtifact[] =>
  [results].flat().filter(SpooledArtifact.isSpooledArtifact)

/** The texts of artifacts. Of those that are too long, or cannot be read, the digest is enough. */
async function textOf(artifacts: readonly SpooledArtifact[]): Promise<string> {
  const texts: string[] = []
  for (const artifact of artifacts) {
    if (artifact.byteLength() > MAX_CONTENT) continue
    try {
      texts.push(await artifact.asString())
    } catch {
      // The record says what became of it.
    }
  }
  return texts.join('\n')
}
