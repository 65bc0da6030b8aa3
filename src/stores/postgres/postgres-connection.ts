import { setTimeout as sleep } from 'node:timers/promises'
import { BobbinError } from '../../core/error.ts'
import { asStoreError, hasLostRace, isOutOfReach } from './postgres-errors.ts'
import type { Pool } from './postgres-pool.ts'
import type { Queries } from './postgres-queries.ts'
import { migrate } from './postgres-schema.ts'
import type { Tables } from './postgres-tables.ts'

export interface PostgresConnection {
  /** Runs `work`, again when the server was out of reach for a moment. */
  read<T>(what: string, work: (queries: Queries) => Promise<T>): Promise<T>
  /** Runs `work` in a transaction, again when it certainly was not stored for a reason that passes. */
  write<T>(
    what: string,
    work: (queries: Queries) => Promise<T>,
    options?: {
      /** Whether `work` is right too when it was stored already and nobody was told. */
      readonly repeatable: boolean
    },
  ): Promise<T>
  close(): Promise<void>
}

/** Connects on first use; a server that was gone is found again by the next use. */
export function postgresConnection(
  connect: () => Promise<Pool>,
  tables: Tables,
  options: { readonly retryTimeoutMs: number },
): PostgresConnection {
  let opening: Promise<Pool> | undefined
  let closed = false

  const opened = () => {
    if (closed) throw closedError()
    opening ??= openMigrated().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const openMigrated = async () => {
    const pool = await connect()
    try {
      await migrate(pool.transaction, tables)
      return pool
    } catch (error) {
      await pool.end()
      throw error
    }
  }

  /** Asks again until time is over, unless it is no use or no longer certain what was stored. */
  const patiently = async <T>(
    what: string,
    attempt: (doubt: Doubt) => Promise<T>,
    mayRepeatInDoubt: boolean,
  ): Promise<T> => {
    let until: number | undefined
    let wasInDoubt = false
    for (let pause = 10; ; pause = Math.min(pause * 2, 500)) {
      const doubt: Doubt = { committing: false }
      try {
        return await attempt(doubt)
      } catch (error) {
        const isGone = isOutOfReach(error)
        wasInDoubt ||= isGone && doubt.committing
        const canRepeat = hasLostRace(error) || (isGone && (!wasInDoubt || mayRepeatInDoubt))
        // From the first failure on: what took long to fail deserves another try too.
        until ??= performance.now() + options.retryTimeoutMs
        if (!canRepeat || performance.now() >= until) throw asStoreError(error, what, wasInDoubt)
      }
      await sleep(pause)
    }
  }

  return {
    read: (what, work) => patiently(what, async () => (await opened()).read(work), true),
    write: (what, work, { repeatable = false } = { repeatable: false }) =>
      patiently(
        what,
        async (doubt) =>
          (await opened()).transaction(async (queries) => {
            const result = await work(queries)
            doubt.committing = true
            return result
          }),
        repeatable,
      ),
    async close() {
      closed = true
      const pool = await opening?.catch(() => undefined)
      await pool?.end()
    },
  }
}

/** Whether an attempt has come so far that only the server knows what became of it. */
interface Doubt {
  committing: boolean
}

function closedError(): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = 'The store was closed: open it again with `postgresStore`.'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'closed', detail: 'closed' })
}
