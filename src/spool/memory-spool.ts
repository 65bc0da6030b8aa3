import { sha256Hex } from '#hash'
import { type Clock, systemClock } from '../core/clock.ts'
import { requireOptions } from '../core/error/wrong-input.ts'
import { assertDigest } from './digest-name.ts'
import { type BlockSource, indexedReader } from './indexed-reader.ts'
import { BLOCK_BYTES, type LineIndex } from './line-index.ts'
import { encodeLineIndex } from './line-index-file.ts'
import { spoolCorrupt, spoolNotFound, spoolQuota } from './spool-errors.ts'
import type { SpoolReader } from './spool-reader.ts'
import { assertGrace, assertLive, assertQuota } from './spool-settings.ts'
import { DEFAULT_GRACE_MS, type SpoolStore } from './spool-store.ts'
import { indexOfBlock, wind } from './wind.ts'

/** How a memory spool is bounded, and whose time it goes by. */
export interface MemorySpoolOptions {
  /** The most bytes the store may hold; a write that would exceed it is refused. */
  readonly quotaBytes?: number
  readonly clock?: Clock
}

interface Held {
  readonly index: LineIndex
  readonly blocks: readonly Uint8Array[]
  writtenAt: number
}

/** A spool store that lives and dies with the process; bytes are copied in and out. */
export function memorySpool(options: MemorySpoolOptions = {}): SpoolStore {
  requireOptions('memorySpool', options, ['quotaBytes', 'clock'])
  const { clock = systemClock } = options
  const quotaBytes = assertQuota(options.quotaBytes ?? Number.POSITIVE_INFINITY)
  const held = new Map<string, Held>()
  let used = 0

  const remove = (digest: string) => {
    const spool = held.get(digest)
    if (spool === undefined) return 0
    held.delete(digest)
    used -= spool.index.byteLength
    return spool.index.byteLength
  }

  return {
    durable: false,

    async write(data, how) {
      const signal = how?.signal
      const blocks: Uint8Array[] = []
      let taken = 0
      try {
        const index = await wind(data, {
          ...(signal && { signal }),
          put(block) {
            if (used + block.length > quotaBytes) throw spoolQuota(quotaBytes, used)
            used += block.length
            taken += block.length
            blocks.push(block.slice())
          },
        })
        const known = held.get(index.digest)
        if (known !== undefined) {
          known.writtenAt = clock.now()
          return readerOf(known)
        }
        const spool = { index, blocks, writtenAt: clock.now() }
        held.set(index.digest, spool)
        taken = 0
        return readerOf(spool)
      } finally {
        used -= taken
      }
    },

    async read(digest) {
      const spool = held.get(assertDigest(digest))
      if (spool === undefined) throw spoolNotFound(digest)
      return readerOf(spool)
    },

    async delete(digest) {
      const known = held.has(assertDigest(digest))
      remove(digest)
      return known
    },

    async *digests() {
      yield* [...held.keys()]
    },

    async sweep(live, { graceMs = DEFAULT_GRACE_MS } = {}) {
      const grace = assertGrace(graceMs)
      assertLive(live)
      const report = { kept: 0, deleted: 0, bytesFreed: 0 }
      for (const [digest, { writtenAt }] of [...held]) {
        if (live.has(digest) || clock.now() - writtenAt < grace) report.kept++
        else {
          report.bytesFreed += remove(digest)
          report.deleted++
        }
      }
      return report
    },
  }
}

/** Reads bytes that fit into one block and do not change. */
export const blockReader = (bytes: Uint8Array): SpoolReader =>
  readerOf({ index: indexOfBlock(bytes), blocks: [bytes] })

function readerOf({ index, blocks }: Pick<Held, 'index' | 'blocks'>) {
  const source: BlockSource = {
    async block(number) {
      return blocks[number] ?? new Uint8Array()
    },

    async *stream(start, end, { signal, borrow }) {
      for (let at = start; at < end; ) {
        signal?.throwIfAborted()
        const number = Math.floor(at / BLOCK_BYTES)
        const offset = number * BLOCK_BYTES
        const piece = (blocks[number] ?? new Uint8Array()).subarray(at - offset, end - offset)
        yield borrow ? piece : piece.slice()
        at += piece.length
      }
    },

    async verify() {
      const actual = await wind(source.stream(0, index.byteLength, { borrow: true }), { put() {} })
      if (actual.digest !== index.digest) throw spoolCorrupt(index.digest, 'bytes')
      const same = sha256Hex(encodeLineIndex(actual)) === sha256Hex(encodeLineIndex(index))
      if (!same) throw spoolCorrupt(index.digest, 'index')
    },
  }
  return indexedReader(index, source)
}
