import type { Sql } from 'postgres'
import { connectionClosed, isRefusal } from './postgres-errors.ts'
import { type Queries, queriesOn } from './postgres-queries.ts'

/** One connection, from its first statement until it breaks off; it never becomes another one. */
export interface Session extends Queries {
  readonly isLost: boolean
  /** Runs `work` in a transaction. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  end(): Promise<void>
}

/**
 * A transaction whose machine has lost its power, or whose network, must not lock its conversation for as
 * long as it takes the server to notice: the lease of a runner is as long.
 */
const BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '30s'"

/**
 * Opens a connection with a client of its own, on first use. The client's pool is not used: it sends a
 * transaction's next statement, and its own ROLLBACK, to a connection that is gone or already another one.
 */
export function postgresSession(
  open: (onClosed: () => void) => Sql,
  connectTimeoutMs = 15_000,
): Session {
  let isLost = false
  let isOpen = false
  const sql = open(() => {
    isLost = true
  })
  const queries = queriesOn(sql)
  const hangUp = () => void sql.end({ timeout: 0 }).catch(() => undefined)

  const guarded = async <T>(statement: () => Promise<T>): Promise<T> => {
    if (isLost) throw connectionClosed()
    // Without this, the client reconnects for ever to a server that hangs up at once.
    const giveUp = isOpen ? undefined : setTimeout(hangUp, connectTimeoutMs)
    try {
      const result = await statement()
      isOpen = true
      return result
    } catch (error) {
      if (!isRefusal(error)) isLost = true
      throw error
    } finally {
      clearTimeout(giveUp)
    }
  }
  const own: Queries = {
    rows: (text, values) => guarded(() => queries.rows(text, values)),
    change: (text, values) => guarded(() => queries.change(text, values)),
    script: (text) => guarded(() => queries.script(text)),
  }

  return {
    ...own,
    get isLost() {
      return isLost
    },
    async transaction(work) {
      await own.script(BEGIN)
      let result: Awaited<ReturnType<typeof work>>
      try {
        result = await work(own)
      } catch (error) {
        // The server rolls back a lost connection. A connection that cannot roll back is not used again.
        if (!isLost) {
          await own.script('ROLLBACK').catch(() => {
            isLost = true
          })
        }
        throw error
      }
      await own.script('COMMIT')
      return result
    },
    end: () => sql.end({ timeout: isLost ? 0 : 5 }).catch(() => undefined),
  }
}
