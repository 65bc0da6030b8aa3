import { BobbinError } from '../core/error/error.ts'
import { doubledKey } from '../core/json/doubled-key.ts'
import { formatPath, type JsonPath } from '../core/json/json-error.ts'
import type { ModelEvent } from './events/model-event.ts'
import { type ByteSource, broken, decodeText, SseReader } from './sse.ts'
import { jsonText } from './wire/wire-value.ts'

/** How many bytes a response may have unless a model says otherwise. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

/** Below this, a value is written to be counted. */
const MAX_DEPTH = 100

/** Members that hold words of the model and nothing else. Some servers write them twice. */
const WORDS: ReadonlySet<unknown> = new Set(['reasoning', 'reasoning_content'])

/** Members that hold the arguments of calls, which are judged by their own text. */
const ARGUMENTS: ReadonlySet<unknown> = new Set(['args', 'arguments', 'input'])

/**
 * Watches what one model call receives: how many bytes, after decompression, and whether a key occurs twice, so
 * that parsing has kept one of two values.
 */
export class ResponseGuard {
  readonly #api: string
  readonly #maxBytes: number
  #received = 0
  #isWatched = false
  #doubled: JsonPath | undefined
  #fault: BobbinError | undefined

  constructor(api: string, maxBytes = MAX_RESPONSE_BYTES) {
    this.#api = api
    this.#maxBytes = maxBytes
  }

  /** The fault of a response. A client that was reading it may have wrapped this in its own error. */
  get fault(): BobbinError | undefined {
    return this.#fault
  }

  /** The longest event that fits. */
  get maxBytes(): number {
    return this.#maxBytes
  }

  /** The chunks of a body; too many bytes are an error. */
  async *bytes(source: ByteSource): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of source) {
      this.#count(chunk.byteLength)
      yield chunk
    }
  }

  /** Counts a value that a client has parsed, if its bytes were not counted before. */
  parsed<T>(value: T): T {
    if (!this.#isWatched) this.#weigh(value, 0)
    return value
  }

  /** Parses a text of a response and notes a key that occurs twice. `apart` leaves arguments out. */
  parse(text: string, apart = true): unknown {
    const value = parseJson(text)
    this.#doubled ??= doubledKey(
      text,
      value,
      (path) =>
        !WORDS.has(path.at(-1)) &&
        !(apart && path.slice(0, -1).some((step) => ARGUMENTS.has(step))),
    )
    return value
  }

  /** Lets events pass; calls of a response that names something twice are an error. */
  pass(events: readonly ModelEvent[]): readonly ModelEvent[] {
    if (this.#doubled !== undefined && events.some(asksForCalls)) {
      const where = formatPath(this.#doubled)
      throw broken('duplicate-key', `\`${where}\` occurs twice, so that its calls are ambiguous`)
    }
    return events
  }

  /** The same response for a client that reads it whole or parses it: its bytes are judged first. */
  watch(response: Response): Response {
    if (response.body === null) return response
    this.#isWatched = true
    const judge = response.ok ? this.#judgeOf(response) : undefined
    const judged = (act: () => void) => {
      try {
        act()
      } catch (error) {
        this.#fault ??= error as BobbinError
        throw error
      }
    }
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) =>
          judged(() => {
            this.#count(chunk.byteLength)
            judge?.feed(chunk)
            controller.enqueue(chunk)
          }),
        flush: () => judged(() => judge?.end()),
      }),
    )
    return new Response(body, response)
  }

  #judgeOf(response: Response): { feed(chunk: Uint8Array): void; end(): void } {
    const note = (text: string) => {
      try {
        this.parse(text, false)
      } catch {
        // The client parses it too, and says so.
      }
    }
    if (/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
      const reader = new SseReader(this.#maxBytes)
      return {
        feed: (chunk) => reader.feed(chunk).forEach(({ data }) => note(data)),
        end: () => reader.end().forEach(({ data }) => note(data)),
      }
    }
    const decoder = new TextDecoder('utf-8', { fatal: true })
    let text = ''
    return {
      feed: (chunk) => {
        text += decodeText(decoder, chunk)
      },
      end: () => note(text + decodeText(decoder)),
    }
  }

  /** Counts about as much as the JSON text of a value has, without writing it. */
  #weigh(value: unknown, depth: number): void {
    if (typeof value === 'string') return this.#count(value.length + 2)
    if (typeof value !== 'object' || value === null) return this.#count(4)
    if (depth > MAX_DEPTH) return this.#count(jsonText(value as never).length)
    let names = 2
    for (const name in value) {
      names += name.length + 4
      this.#weigh((value as Readonly<Record<string, unknown>>)[name], depth + 1)
    }
    this.#count(names)
  }

  #count(bytes: number): void {
    this.#received += bytes
    if (this.#received <= this.#maxBytes) return
    const message = `\`${this.#api}\` sent more than ${this.#maxBytes} bytes in one response. Ask for less, or raise \`maxResponseBytes\` of the model.`
    const data = { api: this.#api, maxResponseBytes: this.#maxBytes }
    this.#fault ??= new BobbinError('E_RESPONSE_TOO_LARGE', message, data)
    throw this.#fault
  }
}

function asksForCalls(event: ModelEvent): boolean {
  return (
    event.type === 'finish' &&
    event.items.some(({ type }) => type === 'call' || type === 'openCall')
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw broken('not-json', 'what it holds is not JSON', cause)
  }
}
