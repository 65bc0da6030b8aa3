import { setTimeout as sleep } from 'node:timers/promises'
import { BobbinError } from '../../core/error.ts'
import { asStoreError, connectionClosed, hasLostRace, isOutOfReach } from './postgres-errors.ts'
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
      /** Whether `work` sees by itself that it was stored already; otherwise the server is asked. */
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

  /** Asks again until time is over, unless it is no use. */
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
        // From the first failure on: what took long to fail deserves another try too.
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
  /** Whether the attempt has come so far that only the server knows what becomes of it. */
  isCommitting: boolean
  /** Whether nobody knows what became of an earlier one. */
  isOpen: boolean
}

/** The name of a transaction that has changed something. */
async function transactionId(queries: Queries): Promise<string | undefined> {
  const [row] = await queries.rows('SELECT txid_current_if_assigned()::text AS id', [])
  const id = row?.['id']
  return typeof id === 'string' ? id : undefined
}

/** What became of a transaction whose commit was left without an answer. */
async function isCommitted(pool: Pool, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false
  const [row] = await pool.read((queries) =>
    queries.rows('SELECT txid_status($1::bigint) AS status', [id]),
  )
  // The server has not noticed yet that nobody is there: ask again, as for any connection that is lost.
  if (row?.['status'] === 'in progress') throw connectionClosed()
  return row?.['status'] === 'committed'
}

function closedError(): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = 'The store was closed: open it again with `postgresStore`.'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'closed', detail: 'closed' })
}
