import { sha256Hex } from '#hash'
import { spoolCorrupt } from './spool-errors.ts'
import { type ByteRange, clampRange, type SpoolReader } from './spool-reader.ts'

const NEWLINE = 10

/**
 * A text that is small enough to be held as it is: no copy in bytes, no index, until somebody asks. Its
 * digest is computed here, so that it needs no second look.
 */
export class SmallText implements SpoolReader {
  readonly digest: string
  readonly byteLength: number
  readonly #text: string
  #lineCount: number | undefined

  private constructor(text: string, digest: string, byteLength: number) {
    this.digest = digest
    this.byteLength = byteLength
    this.#text = text
    Object.freeze(this)
  }

  /** Nothing for a text of more bytes, or one that UTF-8 would change. */
  static of(text: string, maxBytes: number): SmallText | undefined {
    if (text.length > maxBytes || !text.isWellFormed()) return undefined
    // Hashing makes one piece of a text that was added up, and patterns take twice as long on pieces.
    const digest = sha256Hex(text)
    const byteLength = NON_ASCII.test(text) ? encoder.encode(text).length : text.length
    return byteLength > maxBytes ? undefined : new SmallText(text, digest, byteLength)
  }

  get lineCount(): number {
    return (this.#lineCount ??= linesOf(this.#text))
  }

  get text(): string {
    return this.#text
  }

  /** The text in UTF-8, which is the caller's own. */
  bytes(): Uint8Array {
    return encoder.encode(this.#text)
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const [from, to] = clampRange(start, end, this.byteLength)
    return this.bytes().subarray(from, to)
  }

  async *stream({ start = 0, end = this.byteLength, signal }: ByteRange = {}) {
    const bytes = await this.read(start, end)
    if (bytes.length === 0) return
    signal?.throwIfAborted()
    yield bytes
  }

  async lineStart(line: number): Promise<number> {
    if (!(line > 0)) return 0
    if (line >= this.lineCount) return this.byteLength
    const bytes = this.bytes()
    let at = -1
    for (let seen = 0; seen < Math.floor(line); seen++) at = bytes.indexOf(NEWLINE, at + 1)
    return at + 1
  }

  async lineAt(offset: number): Promise<number> {
    if (!(offset > 0) || this.byteLength === 0) return 0
    const before = this.bytes().subarray(0, Math.min(Math.floor(offset), this.byteLength - 1))
    let lines = 0
    for (const byte of before) if (byte === NEWLINE) lines++
    return lines
  }

  async verify(): Promise<void> {
    if (sha256Hex(this.#text) !== this.digest) throw spoolCorrupt(this.digest, 'bytes')
  }
}

const encoder = new TextEncoder()
const NON_ASCII = /[^\0-\x7f]/

/** Text after the last newline is a line; an empty text has none. */
function linesOf(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return text === '' || text.endsWith('\n') ? lines : lines + 1
}
