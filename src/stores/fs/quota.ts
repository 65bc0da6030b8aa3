import { spoolQuota } from '../../spool/spool-errors.ts'

/** Room in a quota for one write that is under way. */
export interface Reservation {
  /** Takes room for `bytes` more, or throws `E_SPOOL_QUOTA`. */
  add(bytes: number): void
  /** The write is stored, in the place of `replaced` bytes; their room is given back. */
  settle(replaced: number): void
  /** Gives back whatever was not settled. */
  release(): void
}

/** The room that one tenant has left. */
export interface Quota {
  reserve(): Promise<Reservation>
  free(bytes: number): void
}

/**
 * Counts stored bytes against a limit. Existing files are counted once, at the first write, while no other task
 * runs: a file that is removed during the count could be subtracted twice.
 */
export function quotaOf(
  limit: number | undefined,
  stored: () => AsyncIterable<{ readonly size: number }>,
  inTurn: <T>(task: () => Promise<T>) => Promise<T>,
): Quota {
  let used = 0
  let isCounted = false
  let counting: Promise<void> | undefined

  const count = async () => {
    let sum = 0
    for await (const { size } of stored()) sum += size
    used = sum
    isCounted = true
  }
  const counted = () => {
    counting ??= inTurn(count).catch((error: unknown) => {
      counting = undefined
      throw error
    })
    return counting
  }

  return {
    async reserve() {
      if (limit !== undefined) await counted()
      let held = 0
      return {
        add(bytes) {
          if (limit !== undefined && used + bytes > limit) throw spoolQuota(limit, used)
          used += bytes
          held += bytes
        },
        settle(replaced) {
          used -= replaced
          held = 0
        },
        release() {
          used -= held
          held = 0
        },
      }
    },
    free(bytes) {
      // Before the first count there is nothing to take it from.
      if (isCounted) used -= bytes
    },
  }
}
