import { sha256Hex } from '#hash'
import { toHex } from '../core/hex.ts'
import { BLOCK_BYTES, FIRST_STRIDE, type LineIndex } from './line-index.ts'

const MAGIC = 0x424f4249
const VERSION = 1
const HEADER_BYTES = 80
const HASH_BYTES = 32

/** An index as found beside its blob. `stale`: sound, but of another format or for other bytes. */
export type StoredIndex =
  | { readonly state: 'sound'; readonly index: LineIndex }
  | { readonly state: 'stale' }
  | { readonly state: 'damaged' }

/**
 * The bytes kept beside a blob: header, entries, block hashes, and the SHA-256 of all that. Equal
 * content gives equal bytes, which is how `verify` can compare instead of trusting.
 */
export function encodeLineIndex(index: LineIndex): Uint8Array {
  const hashesAt = HEADER_BYTES + index.entries.length * 8
  const end = hashesAt + index.blockHashes.length * HASH_BYTES
  const bytes = new Uint8Array(end + HASH_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC)
  view.setUint32(4, VERSION)
  view.setUint32(8, BLOCK_BYTES)
  view.setUint32(12, index.endsWithNewline ? 1 : 0)
  view.setBigUint64(16, BigInt(index.byteLength))
  view.setBigUint64(24, BigInt(index.newlines))
  view.setBigUint64(32, BigInt(index.stride))
  view.setUint32(40, index.entries.length)
  view.setUint32(44, index.blockHashes.length)
  bytes.set(fromHex(index.digest), 48)
  index.entries.forEach((count, i) => {
    view.setBigUint64(HEADER_BYTES + i * 8, BigInt(count))
  })
  index.blockHashes.forEach((hash, i) => {
    bytes.set(fromHex(hash), hashesAt + i * HASH_BYTES)
  })
  bytes.set(fromHex(sha256Hex(bytes.subarray(0, end))), end)
  return bytes
}

/** Reads what `encodeLineIndex` wrote for the blob `digest` of `byteLength` bytes. */
export function decodeLineIndex(
  bytes: Uint8Array,
  expected: { readonly digest: string; readonly byteLength: number },
): StoredIndex {
  if (bytes.length < HEADER_BYTES + HASH_BYTES) return { state: 'damaged' }
  const end = bytes.length - HASH_BYTES
  if (sha256Hex(bytes.subarray(0, end)) !== toHex(bytes.subarray(end))) return { state: 'damaged' }

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const known = view.getUint32(0) === MAGIC && view.getUint32(4) === VERSION
  if (!known || view.getUint32(8) !== BLOCK_BYTES) return { state: 'stale' }
  const entryCount = view.getUint32(40)
  const hashCount = view.getUint32(44)
  const hashesAt = HEADER_BYTES + entryCount * 8
  if (hashesAt + hashCount * HASH_BYTES !== end) return { state: 'damaged' }

  const index: LineIndex = {
    digest: toHex(bytes.subarray(48, HEADER_BYTES)),
    byteLength: getCount(view, 16),
    newlines: getCount(view, 24),
    endsWithNewline: view.getUint32(12) === 1,
    stride: getCount(view, 32),
    entries: Array.from({ length: entryCount }, (_, i) => getCount(view, HEADER_BYTES + i * 8)),
    blockHashes: Array.from({ length: hashCount }, (_, i) => {
      const at = hashesAt + i * HASH_BYTES
      return toHex(bytes.subarray(at, at + HASH_BYTES))
    }),
  }
  const fits = index.digest === expected.digest && index.byteLength === expected.byteLength
  if (!fits) return { state: 'stale' }
  return isPossible(index) ? { state: 'sound', index } : { state: 'damaged' }
}

/** Whether some bytes of this length have this index: a checksum can be forged, and counts bound loops. */
function isPossible({ byteLength, newlines, stride, entries, blockHashes }: LineIndex): boolean {
  if (!Number.isInteger(Math.log2(stride / FIRST_STRIDE)) || stride < FIRST_STRIDE) return false
  if (entries.length !== Math.floor(byteLength / stride)) return false
  if (blockHashes.length !== Math.ceil(byteLength / BLOCK_BYTES)) return false
  let before = 0
  for (const count of entries) {
    if (count < before || count - before > stride) return false
    before = count
  }
  return newlines >= before && newlines - before <= byteLength - entries.length * stride
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: HASH_BYTES }, (_, i) =>
    parseInt(hex.slice(i * 2, i * 2 + 2), 16),
  )
}

/** A 64-bit count; counts of bytes and lines stay far below 2^53. */
function getCount(view: DataView, at: number): number {
  return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4)
}
