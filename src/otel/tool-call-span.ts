import { type Attributes, createContextKey, type SpanContext, SpanKind } from '@opentelemetry/api'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { TraceContext } from '../tools/tool-context.ts'
import type { Scrub, ToolCallTrace, TracedToolCall } from '../turn/events/telemetry.ts'
import { MAX_CONTENT } from './content.ts'
import { ATTRIBUTE, OPERATION, TOOL_ERROR, TOOL_TYPE } from './conventions.ts'
import { errorType, OpenSpan } from './open-span.ts'
import { safely } from './safely.ts'
import { contentText, errorMessage, type Owner, type Tracing } from './tracing.ts'

/** The tool whose handler runs: a turn inside it is named after it. */
export const TOOL = createContextKey('bobbin-adk tool')

/** How a call looks that a client asked a server for. */
export interface Served {
  readonly name: string
  /** What its span and its metric have. */
  readonly attributes: Attributes
  /** What only its span has. */
  readonly more: Attributes
  /** The span of the transport. */
  readonly beside: SpanContext | undefined
}

/** How long the results of a call may take to be read again for its span. */
const READ_MS = 3_000

/** One call: the span `execute_tool`. */
export class ToolCallSpan implements ToolCallTrace {
  readonly #tracing: Tracing
  readonly #span: OpenSpan
  readonly #scrub: Scrub
  /** What the metric has. */
  readonly #about: Attributes
  readonly #served: boolean

  constructor(
    tracing: Tracing,
    { context, conversation, agent }: Owner,
    call: TracedToolCall,
    scrub: Scrub,
    served?: Served,
  ) {
    this.#tracing = tracing
    this.#scrub = scrub
    this.#served = served !== undefined
    const { id, tool, description, checksum, args } = call
    const operation = { [ATTRIBUTE.operation]: OPERATION.toolCall }
    const type = { [ATTRIBUTE.toolType]: TOOL_TYPE }
    this.#about = {
      [ATTRIBUTE.tool]: tool,
      ...(served ? { ...operation, ...served.attributes } : type),
      ...(agent !== undefined && { [ATTRIBUTE.agent]: agent }),
    }
    this.#span = new OpenSpan({
      tracer: tracing.tracer,
      name: served?.name ?? `${OPERATION.toolCall} ${tool}`,
      ...(served && { kind: SpanKind.SERVER, beside: served.beside }),
      parent: context.setValue(TOOL, tool),
      attributes: {
        ...operation,
        ...this.#about,
        ...type,
        ...served?.more,
        ...(conversation !== undefined && { [ATTRIBUTE.conversation]: conversation }),
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

  /** Fixes what is known of the call at once. Contents that must be read first come later: the turn never waits for them. */
  settled(record: ToolCall): void {
    if (this.#span.isOver) return
    const { settlement, isError } = record
    const failure = this.#served ? TOOL_ERROR : settlement
    this.#measure(this.#span.stop(), isError ? { [ATTRIBUTE.error]: failure } : {})
    if (!this.#span.isRecording) return void this.#span.end()
    safely(() => this.#describe(record))
    if (isError) this.#span.fail(failure)
    if (this.#tracing.content) this.#tellResult(record)
    else this.#span.end()
  }

  #measure(seconds: number, failure: Attributes = {}): void {
    const metric = this.#served ? 'servedDuration' : 'toolDuration'
    this.#tracing.measure(metric, seconds, { ...this.#about, ...failure })
  }

  #describe({ settlement, results, digest }: ToolCall): void {
    const artifacts = artifactsIn(results).map((artifact) => artifact.digest)
    this.#span.set({
      [ATTRIBUTE.settlement]: settlement,
      [ATTRIBUTE.digest]: digest,
      ...(artifacts.length > 0 && { [ATTRIBUTE.artifact]: artifacts }),
    })
  }

  /** The span ends with the result, or without it when reading takes too long. */
  #tellResult({ results }: ToolCall): void {
    let isTold = false
    const tell = (text?: string) => {
      if (isTold) return
      isTold = true
      clearTimeout(timer)
      if (text !== undefined) {
        safely(() => this.#span.set({ [ATTRIBUTE.toolResult]: contentText(text, this.#scrub) }))
      }
      this.#span.end()
    }
    const timer = setTimeout(tell, READ_MS)
    // It must not keep the process alive by itself.
    if (typeof timer === 'object') timer.unref()
    if (Tokenizable.isTokenizable(results)) return tell(results.text)
    textOf(artifactsIn(results)).then(tell, () => tell())
  }

  waits(): void {
    if (this.#span.isOver) return
    this.#span.set({ [ATTRIBUTE.settlement]: 'waiting' })
    this.#measure(this.#span.end())
  }

  failed(error: unknown): void {
    if (this.#span.isOver) return
    const type = errorType(error)
    this.#span.fail(type, errorMessage(this.#tracing, error, this.#scrub))
    this.#measure(this.#span.end(), { [ATTRIBUTE.error]: type })
  }
}

const artifactsIn = (results: unknown): readonly SpooledArtifact[] =>
  [results].flat().filter(SpooledArtifact.isSpooledArtifact)

/** The texts of artifacts. Of those that are too long, or cannot be read, the digest is enough. */
async function textOf(artifacts: readonly SpooledArtifact[]): Promise<string> {
  const texts: string[] = []
  let length = 0
  for (const artifact of artifacts) {
    if (length + artifact.byteLength() > MAX_CONTENT) continue
    try {
      const text = await artifact.asString()
      texts.push(text)
      length += text.length
    } catch {
      // The record says what became of it.
    }
  }
  return texts.join('\n')
}
