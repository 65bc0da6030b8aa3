import type { Attributes, Context } from '@opentelemetry/api'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Scrub, ToolCallTrace, TracedToolCall } from '../turn/events/telemetry.ts'
import { MAX_CONTENT } from './content.ts'
import { ATTRIBUTE, OPERATION } from './conventions.ts'
import { errorType, OpenSpan } from './open-span.ts'
import { contentText, errorMessage, type Tracing } from './tracing.ts'

/** One call: the span `execute_tool`. */
export class ToolCallSpan implements ToolCallTrace {
  readonly #tracing: Tracing
  readonly #span: OpenSpan
  readonly #scrub: Scrub
  readonly #about: Attributes

  constructor(tracing: Tracing, parent: Context, call: TracedToolCall, scrub: Scrub) {
    this.#tracing = tracing
    this.#scrub = scrub
    const { id, tool, description, checksum, args } = call
    this.#about = { [ATTRIBUTE.operation]: OPERATION.toolCall, [ATTRIBUTE.tool]: tool }
    this.#span = new OpenSpan({
      tracer: tracing.tracer,
      name: `${OPERATION.toolCall} ${tool}`,
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

  within<T>(work: () => Promise<T>): Promise<T> {
    return this.#span.within(work)
  }

  async settled(record: ToolCall): Promise<void> {
    if (this.#span.isOver) return
    const { settlement, isError } = record
    const seconds = this.#span.stop()
    this.#tracing.measure('toolDuration', seconds, {
      ...this.#about,
      ...(isError && { [ATTRIBUTE.error]: settlement }),
    })
    try {
      await this.#describe(record)
    } finally {
      this.#span.end()
    }
  }

  async #describe(record: ToolCall): Promise<void> {
    if (!this.#span.isRecording) return
    const { settlement, isError, results } = record
    const artifacts = [results].flat().filter(SpooledArtifact.isSpooledArtifact)
    this.#span.set({
      [ATTRIBUTE.settlement]: settlement,
      [ATTRIBUTE.digest]: record.digest,
      ...(artifacts.length > 0 && { [ATTRIBUTE.artifact]: artifacts.map(({ digest }) => digest) }),
    })
    if (isError) this.#span.fail(settlement)
    if (!this.#tracing.content) return
    const text = Tokenizable.isTokenizable(results) ? results.text : await textOf(artifacts)
    this.#span.set({ [ATTRIBUTE.toolResult]: contentText(text, this.#scrub) })
  }

  waits(): void {
    if (this.#span.isOver) return
    this.#span.set({ [ATTRIBUTE.settlement]: 'waiting' })
    this.#tracing.measure('toolDuration', this.#span.end(), this.#about)
  }

  failed(error: unknown): void {
    if (this.#span.isOver) return
    const type = errorType(error)
    this.#span.fail(type, errorMessage(this.#tracing, error, this.#scrub))
    const about = { ...this.#about, [ATTRIBUTE.error]: type }
    this.#tracing.measure('toolDuration', this.#span.end(), about)
  }
}

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
