const REPLACEMENT = 0xfffd

/**
 * Decodes UTF-8 a byte at a time, as `TextDecoder` does: each maximal broken part becomes U+FFFD. Sequences may
 * lie across any borders.
 */
export class Utf8Decoder {
  #needed = 0
  #rune = 0
  #lower = 0x80
  #upper = 0xbf
  /** False when the last byte broke a sequence and must be given again. */
  consumed = true

  /** True within a sequence. */
  get pending(): boolean {
    return this.#needed > 0
  }

  reset(): void {
    this.#needed = 0
    this.#lower = 0x80
    this.#upper = 0xbf
  }

  /** The code point that `byte` completes, or -1. */
  take(byte: number): number {
    this.consumed = true
    if (this.#needed === 0) return this.#lead(byte)
    if (byte < this.#lower || byte > this.#upper) {
      this.reset()
      this.consumed = false
      return REPLACEMENT
    }
    this.#lower = 0x80
    this.#upper = 0xbf
    this.#rune = (this.#rune << 6) | (byte & 0x3f)
    return --this.#needed === 0 ? this.#rune : -1
  }

  #lead(byte: number): number {
    if (byte < 0x80) return byte
    if (byte >= 0xc2 && byte <= 0xdf) return this.#expect(1, byte & 0x1f)
    if (byte >= 0xe0 && byte <= 0xef) {
      // No overlong forms, no surrogates.
      if (byte === 0xe0) this.#lower = 0xa0
      if (byte === 0xed) this.#upper = 0x9f
      return this.#expect(2, byte & 0x0f)
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
      if (byte === 0xf0) this.#lower = 0x90
      if (byte === 0xf4) this.#upper = 0x8f
      return this.#expect(3, byte & 0x07)
    }
    return REPLACEMENT
  }

  #expect(bytes: number, rune: number): -1 {
    this.#needed = bytes
    this.#rune = rune
    return -1
  }
}
