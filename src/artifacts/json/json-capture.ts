import { decodeUtf8, previousBoundary } from '../../spool/line-text.ts'

/** A value beyond this is not held: the scan tells its size and place instead. */
export const MAX_VALUE_BYTES = 1_000_000
const MAX_KEY_BYTES = 1_000
const BACKSLASH = 0x5c

/** Holds the bytes of the one key or value under way, across pieces of input, up to a limit. */
export class JsonCapture {
  #what: 'key' | 'value' | undefined
  #start = 0
  #size = 0
  #pieces: Uint8Array[] = []

  begin(what: 'key' | 'value', start: number): void {
    this.#what = what
    this.#start = start
    this.#size = 0
    this.#pieces = []
  }

  /** Copies what belongs to the capture out of a piece of input that begins at `base`. */
  carry(chunk: Uint8Array, base: number): void {
    if (this.#what !== undefined) this.#add(chunk.slice(Math.max(0, this.#start - base)))
  }

  /** The key as text, or the beginning of a very long one; nothing when it is not wanted. */
  endKey(
    chunk: Uint8Array,
    base: number,
    end: number,
    wanted?: (raw: Uint8Array) => boolean,
  ): string {
    const bytes = this.#take(chunk, base, end, MAX_KEY_BYTES)
    if (wanted !== undefined && !wanted(bytes.subarray(1, -1))) return ''
    if (this.#size <= MAX_KEY_BYTES) {
      // `JSON.parse` enters short text into the engine's table of strings, which stalls as it grows by a million.
      if (!bytes.includes(BACKSLASH)) return decodeUtf8(bytes.subarray(1, -1))
      return JSON.parse(decodeUtf8(bytes)) as string
    }
    return `${decodeUtf8(bytes.subarray(1, previousBoundary(bytes, MAX_KEY_BYTES)))}…`
  }

  /** The bytes of the value, perhaps a view of `chunk`; nothing when there are too many or none were asked for. */
  endValue(chunk: Uint8Array, base: number, end: number): Uint8Array | undefined {
    if (this.#what !== 'value') return undefined
    const bytes = this.#take(chunk, base, end, MAX_VALUE_BYTES)
    return this.#size > MAX_VALUE_BYTES ? undefined : bytes
  }

  #take(chunk: Uint8Array, base: number, end: number, limit: number): Uint8Array {
    const from = Math.max(0, this.#start - base)
    this.#what = undefined
    if (this.#pieces.length === 0) {
      this.#size = end - from
      return chunk.subarray(from, Math.min(end, from + limit))
    }
    this.#add(chunk.subarray(from, end))
    const whole = new Uint8Array(Math.min(this.#size, limit))
    let at = 0
    for (const piece of this.#pieces) {
      whole.set(piece.subarray(0, whole.length - at), at)
      at += piece.length
      if (at >= whole.length) break
    }
    this.#pieces = []
    return whole
  }

  #add(piece: Uint8Array): void {
    if (this.#size <= MAX_VALUE_BYTES) this.#pieces.push(piece)
    this.#size += piece.length
  }
}
