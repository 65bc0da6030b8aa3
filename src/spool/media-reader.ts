/** An opaque, re-openable binary source: each `stream()` starts from the first byte. */
export interface MediaReader {
  stream(): AsyncIterable<Uint8Array>
  /** Absent when the size is not known before reading. */
  readonly byteLength?: number
  /** Lower-case hex SHA-256, absent when it is not known before reading. */
  readonly digest?: string
}
