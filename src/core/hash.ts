/** The hashing that a platform provides: SHA-256 at once or in pieces, HMAC-SHA-256 whole or short. */
export interface Hashing {
  /** Lower-case hex digest of bytes, or of a string's UTF-8 form. */
  sha256Hex(data: string | Uint8Array): string
  sha256Stream(): Sha256Stream
  hmacSha256(key: Uint8Array, data: string | Uint8Array): Uint8Array
  /** The first 128 bits of `hmacSha256` in base64url, without padding. */
  hmac128(key: Uint8Array, data: string | Uint8Array): string
}

/** A digest of data that arrives in pieces. */
export interface Sha256Stream {
  update(chunk: Uint8Array): void
  /** Ends the digest; the stream cannot be used afterwards. */
  digestHex(): string
}
