import { setTimeout as sleep } from 'node:timers/promises'
import { BobbinError } from '../../core/error/error.ts'
import { asStoreError, connectionClosed, hasLostRace, isOutOfReach } from './postgres-errors.ts'
import type { Pool } from './postgres-pool.ts'
import type { Queries } from './postgres-queries.ts'
import { migrate } from './postgres-schema.ts'
import type { Tables } from './postgres-tables.ts'

export interface PostgresConnection {
  /** Runs `work`; tries again if the server cannot be reached. */
  read<T>(what: string, work: (queries: Queries) => Promise<T>): Promise<T>
  /** Runs `work` in a transaction; tries again if it was certainly not stored and the cause may pass. */
  write<T>(
    what: string,
    work: (queries: Queries) => Promise<T>,
    options?: {
      /** Whether `work` itself detects that it was already stored; otherwise the server is asked. */
      readonly findsOut: boolean
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

  /** Tries again until time is over, if another try can succeed. */
  const patiently = async <T>(what: string, attempt: (doubt: Doubt) => Promise<T>): Promise<T> => {
    const doubt: Doubt = { isCommitting: false, isOpen: false }
    let until: number | undefined
    for (let pause = 10; ; pause = Math.min(pause * 2, 500)) {
      doubt.isCommitting = false
      try {
        return await attempt(doubt)
      } catch (error) {
        doubt.isOpen ||= doubt.isCommitting && isOutOfReach(error)
        const canRepeat = hasLostRace(error) || isOutOfReach(error)
        // Counted from the first failure, so that a slow failure gets another try too.
        until ??= performance.now() + options.retryTimeoutMs
        if (!canRepeat || performance.now() >= until) throw asStoreError(error, what, doubt.isOpen)
      }
      await sleep(pause)
    }
  }

  return {
    read: (what, work) => patiently(what, async () => (await opened()).read(work)),
    write<T>(
      what: string,
      work: (queries: Queries) => Promise<T>,
      { findsOut } = { findsOut: false },
    ) {
      let last: { readonly id: string | undefined; readonly result: T } | undefined
      return patiently(what, async (doubt) => {
        const pool = await opened()
        if (last !== undefined && (await isCommitted(pool, last.id))) return last.result
        last = undefined
        return pool.transaction(async (queries) => {
          const result = await work(queries)
          if (!findsOut) last = { id: await transactionId(queries), result }
          Object.assign(doubt, { isCommitting: true, isOpen: false })
          return result
        })
      })
    },
    async close() {
      closed = true
      const pool = await opening?.catch(() => undefined)
      await pool?.end()
    },
  }
}

interface Doubt {
  /** Whether the attempt has sent its commit, so that only the server knows the result. */
  isCommitting: boolean
  /** Whether the result of an earlier attempt is unknown. */
  isOpen: boolean
}

/** The name of a transaction that has changed something. */
async function transactionId(queries: Queries): Promise<string | undefined> {
  const [row] = await queries.rows('SELECT txid_current_if_assigned()::text AS id', [])
  const id = row?.['id']
  return typeof id === 'string' ? id : undefined
}

/** Whether a transaction was committed whose commit got no answer. */
async function isCommitted(pool: Pool, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false
  const [row] = await pool.read((queries) =>
    queries.rows('SELECT txid_status($1::bigint) AS status', [id]),
  )
  // The server has not noticed the lost connection yet: ask again, as after any lost connection.
  if (row?.['status'] === 'in progress') throw connectionClosed()
  return row?.['status'] === 'committed'
}

function closedError(): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = 'The store was closed: open it again with `postgresStore`.'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'closed', detail: 'closed' })
}
