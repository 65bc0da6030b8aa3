import { sha256Hex, sha256Stream } from '#hash'
import { pacer } from './event-loop.ts'
import { BLOCK_BYTES, LineCounter, type LineIndex } from './line-index.ts'
import { type Source, sourceOf } from './spool-input.ts'
import type { SpoolInput } from './spool-store.ts'

/** Where the blocks of a spool go, and what may end the winding. */
export interface Winding {
  readonly signal?: AbortSignal
  /** Takes one block of `BLOCK_BYTES` (the last is shorter); the bytes may be overwritten afterwards. */
  put(block: Uint8Array): Promise<void> | void
}

/** Takes `data` in blocks, hashing and indexing on the way; memory does not grow with it. */
export async function wind(data: SpoolInput, winding: Winding): Promise<LineIndex> {
  const { signal } = winding
  signal?.throwIfAborted()
  const small = smallBytes(data)
  if (small !== undefined) return windSmall(small, winding)
  const pace = pacer()
  const whole = sha256Stream()
  const lines = new LineCounter()
  const blockHashes: string[] = []
  const buffer = new Uint8Array(BLOCK_BYTES)
  let filled = 0

  const flush = async () => {
    const block = buffer.subarray(0, filled)
    filled = 0
    whole.update(block)
    blockHashes.push(sha256Hex(block))
    lines.add(block)
    await winding.put(block)
    await pace()
    signal?.throwIfAborted()
  }

  for await (const bytes of untilAborted(sourceOf(data), signal)) {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + BLOCK_BYTES - filled)
      buffer.set(piece, filled)
      filled += piece.length
      at += piece.length
      if (filled === BLOCK_BYTES) await flush()
    }
  }
  if (filled > 0) await flush()
  return { digest: whole.digestHex(), ...lines.lines(), blockHashes }
}

const encoder = new TextEncoder()

/** The bytes of what fits into one block and is there already, as most results are. */
function smallBytes(data: SpoolInput): Uint8Array | undefined {
  if (typeof data === 'string') {
    return data.length <= BLOCK_BYTES / 3 ? encoder.encode(data) : undefined
  }
  // A copy, for the caller may change its bytes between their hash and their way to the disk.
  return data instanceof Uint8Array && data.length <= BLOCK_BYTES ? new Uint8Array(data) : undefined
}

async function windSmall(bytes: Uint8Array, { signal, put }: Winding): Promise<LineIndex> {
  const index = indexOfBlock(bytes)
  if (bytes.length > 0) {
    await put(bytes)
    signal?.throwIfAborted()
  }
  return index
}

/** The index of what fits into one block. It needs one digest: the block's is the whole's. */
export function indexOfBlock(bytes: Uint8Array): LineIndex {
  const lines = new LineCounter()
  lines.add(bytes)
  const digest = sha256Hex(bytes)
  return { digest, ...lines.lines(), blockHashes: bytes.length > 0 ? [digest] : [] }
}

/** Ends the wait for a source that has stopped giving when the signal aborts. */
async function* untilAborted(
  { bytes, stop }: Source,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (signal === undefined) {
    yield* bytes
    return
  }
  // One rejection at a time: racing every step against one lasting promise would pile up reactions on it.
  let abort = () => {}
  const onAbort = () => abort()
  const next = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      abort = () => reject(signal.reason)
      bytes.next().then(resolve, reject)
    })
  signal.addEventListener('abort', onAbort, { once: true })
  let finished = false
  try {
    for (;;) {
      signal.throwIfAborted()
      const step = await next()
      if (step.done) {
        finished = true
        return
      }
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // A source that hangs would hang here too, so its clean-up is not waited for.
    if (!finished) {
      void bytes.return(undefined).catch(() => undefined)
      stop()
    }
  }
}
