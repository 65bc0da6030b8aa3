import { isBobbinError } from '../../core/error/error.ts'
import type { AppendRequest } from '../rows/append-request.ts'
import type { Appended } from '../store.ts'

type Append = (request: AppendRequest) => Promise<Appended>

/** One append that waits for its commit. */
interface Piece {
  readonly request: AppendRequest
  resolve(appended: Appended): void
  reject(error: unknown): void
}

/**
 * Joins appends of one holder into one commit: those that come in the same step, and those that come while
 * another commit is under way. Each commit waits for the disk, and parallel calls often end together.
 */
export function groupAppends(append: Append): Append {
  const groups = new Map<string, Piece[]>()

  const work = async (name: string, waiting: Piece[]) => {
    // Lets other appends of the same step join.
    await Promise.resolve()
    while (waiting.length > 0) await commit(append, waiting.splice(0))
    groups.delete(name)
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const name = `${request.epoch} ${request.conversation}`
      const piece = { request, resolve, reject }
      const waiting = groups.get(name)
      if (waiting !== undefined) {
        waiting.push(piece)
        return
      }
      const group = [piece]
      groups.set(name, group)
      void work(name, group)
    })
}

async function commit(append: Append, pieces: readonly Piece[]): Promise<void> {
  const { conversation, epoch } = (pieces[0] as Piece).request
  const entries = pieces.flatMap(({ request }) => request.entries)
  const blobs = pieces.flatMap(({ request }) => request.blobs)
  try {
    const { seq: first, time } = await append({ conversation, epoch, entries, blobs })
    let seq = first
    for (const { request, resolve } of pieces) {
      resolve({ seq, time })
      seq += request.entries.length
    }
  } catch (error) {
    // One bad append must not keep the others out of the log: their calls have run.
    if (pieces.length > 1 && !isStoreFault(error)) {
      for (const piece of pieces) await commit(append, [piece])
    } else for (const { reject } of pieces) reject(error)
  }
}

/** Whether the store would refuse each append by itself, too. */
function isStoreFault(error: unknown): boolean {
  return STORE_FAULTS.some((code) => isBobbinError(error, code))
}

const STORE_FAULTS = [
  'E_STORE_UNAVAILABLE',
  'E_STORE_CORRUPT',
  'E_STORE_TOO_NEW',
  'E_STORE_KEY',
  'E_STALE_RUNNER',
] as const
