/** Bytes that a scanner takes at a time: few enough that even the slowest is done within some milliseconds. */
const SLICE_BYTES = 16 * 1024

/** A chunk in slices, so that there can be a turn of the event loop between any two. */
export function* byteSlices(chunk: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += SLICE_BYTES) yield chunk.subarray(at, at + SLICE_BYTES)
}
