import type { NewEntry } from '../store/entry.ts'
import type { StoredBlob } from '../store/store.ts'
import { faultOf } from './fault.ts'

type Append = (
  entries: readonly NewEntry[],
  blobs: readonly StoredBlob[] | undefined,
) => Promise<unknown> | undefined

/** What one call brings, and whoever waits for it to be in the log. */
interface Piece {
  readonly entries: readonly NewEntry[]
  readonly blobs: readonly StoredBlob[] | undefined
  resolve(stored: unknown): void
  reject(error: unknown): void
}

/**
 * Appends in one commit what comes at the same time, or while another commit is under way: each commit
 * waits for the disk, and calls that run side by side often end side by side.
 */
export class GroupCommit {
  readonly #append: Append
  #waiting: Piece[] = []
  #isUnderWay = false

  constructor(append: Append) {
    this.#append = append
  }

  /** Resolves when the entries are in the log, in the order in which they came. */
  add(entries: Piece['entries'], blobs: Piece['blobs']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, blobs, resolve, reject })
      if (!this.#isUnderWay) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#isUnderWay = true
    // Whatever ends in the same step is there behind it.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const pieces = this.#waiting
      this.#waiting = []
      await this.#commit(pieces)
    }
    this.#isUnderWay = false
  }

  async #commit(pieces: readonly Piece[]): Promise<void> {
    try {
      const entries: NewEntry[] = []
      const blobs: StoredBlob[] = []
      for (const piece of pieces) {
        for (const entry of piece.entries) entries.push(entry)
        for (const blob of piece.blobs ?? []) blobs.push(blob)
      }
      const stored = await this.#append(entries, blobs)
      for (const { resolve } of pieces) resolve(stored)
    } catch (error) {
      // One that the store does not take must not keep the others, which have run, out of the log.
      if (pieces.length > 1 && faultOf(error) !== 'store') {
        for (const piece of pieces) await this.#commit([piece])
      } else for (const { reject } of pieces) reject(error)
    }
  }
}
