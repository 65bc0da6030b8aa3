import { spoolQuota } from '../../spool/spool-errors.ts'

/** Room in a quota for one write that is under way. */
export interface Reservation {
  /** Takes room for `bytes` more, or throws `E_SPOOL_QUOTA`. */
  add(bytes: number): void
  /** The write is stored: keeps the room when the content is new, gives it back when it was there. */
  settle(isNew: boolean): void
  /** Gives back whatever was not settled. */
  release(): void
}

export interface Quota {
  reserve(): Promise<Reservation>
  free(bytes: number): void
}

/** Counts stored bytes against a limit; what is stored already is counted once, at the first write. */
export function quotaOf(
  limit: number | undefined,
  stored: () => AsyncIterable<{ readonly size: number }>,
): Quota {
  let used = 0
  let counting: Promise<void> | undefined

  const count = async () => {
    for await (const { size } of stored()) used += size
  }
  const counted = () => {
    counting ??= count().catch((error: unknown) => {
      counting = undefined
      used = 0
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
        settle(isNew) {
          if (isNew) held = 0
        },
        release() {
          used -= held
          held = 0
        },
      }
    },
    free(bytes) {
      // Before the first count there is nothing to take it from.
      if (counting !== undefined) used -= bytes
    },
  }
}
