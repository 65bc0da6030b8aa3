import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import { BobbinError } from '../core/error/error.ts'
import { requireNumber, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Artifact } from '../spool/artifact.ts'
import { pacer } from '../spool/event-loop.ts'
import { decodeUtf8, type LineText } from '../spool/line-text.ts'
import { regexpPattern } from '../spool/search/regexp-pattern.ts'
import type { SearchAnswer, SearchOptions } from '../spool/search/search.ts'
import { fixedSpoolReader, type SpoolReader } from '../spool/spool-reader.ts'
import type { TokenCount } from '../text/token-count.ts'
import type { ToolRegistry } from '../tools/tool-registry.ts'
import { type ForgeContext, type ForgeOptions, forgeTools } from './forge-tools.ts'
import { loadAnswers } from './load-answers.ts'
import { clamp, METHOD_LIMITS } from './query/answer-limits.ts'
import type { LineRange, LineWindow, WindowLimits } from './query/line-window.ts'
import { type Parameters, type Query, query } from './query/query.ts'
import { textQueries } from './text-queries.ts'

/** Bytes that `asString` gives at most unless told otherwise. */
const DEFAULT_TEXT_LIMIT = 1_000_000
const LINES_PER_STEP = { maxLines: 8_000, maxChars: 262_144, maxLineChars: 65_536 }

/** How to search; see `SearchOptions` for what bounds the answer. */
export interface GrepOptions extends Omit<SearchOptions, 'pattern'> {
  /** Lines to show before and after each match. */
  readonly context?: number
}

/** Where to begin, and a signal to stop. */
export interface LinesOptions {
  readonly start?: number
  readonly signal?: AbortSignal
}

/** Tool output on a spool: the model holds a handle and pulls thread from it. */
export class SpooledArtifact implements Artifact {
  /** The name under which stored references find the class again. */
  static readonly kind: string = 'text'

  /** The questions a model can ask of this class, beside those of the class it extends. */
  static readonly queries: readonly Query[] = textQueries

  readonly #reader: SpoolReader

  static {
    // What Node prints for an artifact: it has no public fields.
    const value = function (this: SpooledArtifact): unknown {
      if (!(#reader in this)) return this
      const { name } = this.constructor
      const size = `${this.byteLength()} bytes, ${this.lineCount()} lines`
      return `${name} { ${size}, sha256 ${this.digest.slice(0, 12)}… }`
    }
    Object.defineProperty(SpooledArtifact.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value,
    })
  }

  constructor(reader: SpoolReader) {
    this.#reader = fixedSpoolReader(reader)
    Object.freeze(this)
  }

  static isSpooledArtifact(value: unknown): value is SpooledArtifact {
    return isInstanceOf(value, 'SpooledArtifact')
  }

  /** Declares a query with its arguments typed by its parameters. */
  static query<A extends SpooledArtifact, const P extends Parameters>(
    declared: Query<A, P>,
  ): Query<A, P> {
    return query(declared)
  }

  /**
   * Makes the tools with which a model queries the artifacts of `context`: those of this class when
   * called on a subclass. Answers of such tools are never offered again.
   */
  static forgeTools(context: ForgeContext, options: ForgeOptions = {}): ToolRegistry {
    const isBase = Object.is(this, SpooledArtifact)
    return forgeTools(context, {
      ...options,
      // The base class takes artifacts of another copy of the package too.
      fits: (artifact) => isBase || artifact instanceof this,
    })
  }

  get kind(): string {
    return (this.constructor as typeof SpooledArtifact).kind
  }

  get digest(): string {
    return this.#reader.digest
  }

  /** The spool below, for the queries of subclasses. */
  protected get reader(): SpoolReader {
    return this.#reader
  }

  byteLength(): number {
    return this.#reader.byteLength
  }

  lineCount(): number {
    return this.#reader.lineCount
  }

  /** The first `count` lines without their terminators, as far as the limits of a window go. */
  async head(count = 10): Promise<string[]> {
    return this.cat(0, count)
  }

  /** The last `count` lines without their terminators, as far as the limits of a window go. */
  async tail(count = 10): Promise<string[]> {
    return textOf(await this.tailWindow(count))
  }

  /** The lines from `start` to before `end`, counted from 0, as far as the limits of a window go. */
  async cat(start = 0, end = Number.POSITIVE_INFINITY): Promise<string[]> {
    return textOf((await this.window({ start, end })).lines)
  }

  /** Line `number`, counted from 0; `undefined` if there is no such line. */
  async line(number: number): Promise<string | undefined> {
    requireNumber('artifact.line', 'number', number)
    if (!Number.isInteger(number) || number < 0) return undefined
    return (await this.cat(number, number + 1))[0]
  }

  /** Lines with their numbers, how much was cut off, and where to continue. */
  async window(range: LineRange, limits: Partial<WindowLimits> = {}): Promise<LineWindow> {
    requireOptions('artifact.window', range)
    requireNumber('artifact', 'start', range.start)
    requireNumber('artifact', 'end', range.end)
    const start = clamp(range.start, 0, this.lineCount())
    const end = clamp(range.end, start, this.lineCount())
    const offset = clamp(range.offset ?? 0, 0, this.byteLength())
    const { readWindow } = await loadAnswers()
    return readWindow(this.#reader, { start, end, offset }, { ...METHOD_LIMITS, ...limits })
  }

  /** The last lines with their numbers and what was cut off them. */
  async tailWindow(
    count: number,
    limits: Partial<WindowLimits> = {},
  ): Promise<readonly LineText[]> {
    requireNumber('artifact.tail', 'count', count)
    const lines = clamp(count, 0, this.lineCount())
    const { readTail } = await loadAnswers()
    return readTail(this.#reader, lines, { ...METHOD_LIMITS, ...limits })
  }

  /** Every line from `start` on, in memory that does not grow; lines beyond 64 KB are cut. */
  async *lines(options: LinesOptions = {}): AsyncGenerator<string> {
    for await (const batch of this.lineBatches(options)) yield* batch
  }

  /** What `lines` gives, thousands of short lines at a time: several times faster where there are millions. */
  async *lineBatches(options: LinesOptions = {}): AsyncGenerator<readonly string[]> {
    requireOptions('artifact.lines', options)
    const { start = 0, signal } = options
    requireNumber('artifact.lines', 'start', start)
    const { readWindow } = await loadAnswers()
    const end = this.lineCount()
    const pace = pacer()
    for (let at = clamp(start, 0, end); at < end; ) {
      signal?.throwIfAborted()
      const { lines } = await readWindow(this.#reader, { start: at, end }, LINES_PER_STEP)
      yield textOf(lines)
      at += lines.length
      await pace()
    }
  }

  /** Lines that match, with their numbers, what was left out, and a cursor to continue. */
  async grep(pattern: string | RegExp, given: GrepOptions = {}): Promise<SearchAnswer> {
    requireOptions('artifact.grep', given)
    const { context, ...options } = given
    const around = context === undefined ? {} : { before: context, after: context }
    const { ignoreCase, ...wanted } = regexpPattern(pattern, options.literal)
    const { searchSpool } = await loadAnswers()
    return searchSpool(this.#reader, {
      ...around,
      ...(ignoreCase && { ignoreCase }),
      ...options,
      ...wanted,
    })
  }

  /** How many tokens the text is; measured on samples and marked as an estimate when it is large. */
  async estimateTokens(encoding = 'o200k_base'): Promise<TokenCount> {
    if (typeof encoding !== 'string') {
      throw wrongInput('artifact.estimateTokens', 'encoding', 'must be a string')
    }
    const { spooledTokens } = await loadAnswers()
    return spooledTokens(this.#reader, encoding)
  }

  /** The whole text, byte for byte, refused above `limit` bytes. */
  async asString(limit = DEFAULT_TEXT_LIMIT): Promise<string> {
    const actual = this.byteLength()
    // Written this way, `NaN` is refused too.
    if (typeof limit !== 'number' || !(actual <= limit)) {
      const message = `The artifact has ${actual} bytes, more than the limit of ${String(limit)}: read a part with \`cat\` or \`grep\`, or raise the limit.`
      throw new BobbinError('E_LIMIT_EXCEEDED', message, { what: 'asString', limit, actual })
    }
    return decodeUtf8(await this.#reader.read(0, actual))
  }

  /** What a handle tells about the structure, cheaply and in a few hundred characters. */
  async preview(): Promise<string | undefined> {
    return undefined
  }

  /** A reference by content: class, digest and size. The bytes stay on the spool. */
  toJSON(): JsonObject {
    return {
      $artifact: {
        kind: this.kind,
        sha256: this.digest,
        byteLength: this.byteLength(),
        lineCount: this.lineCount(),
      },
    }
  }

  [brandOf('SpooledArtifact')](): boolean {
    return #reader in this
  }
}

const textOf = (lines: readonly LineText[]) => lines.map(({ text }) => text)
