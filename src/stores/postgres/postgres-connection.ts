import type { Sql, TransactionSql } from 'postgres'
import { BobbinError } from '../../core/error.ts'
import { asStoreError, isLostRace } from './postgres-errors.ts'
import type { PostgresRow, PostgresValue, Queries } from './postgres-queries.ts'
import { migrate } from './postgres-schema.ts'
import type { Tables } from './postgres-tables.ts'

export interface PostgresConnection {
  read<T>(what: string, work: (queries: Queries) => Promise<T>): Promise<T>
  /** Runs `work` in a transaction, again when it lost a race against another one. */
  write<T>(what: string, work: (queries: Queries) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const MAX_TRIES = 5

/** Longer statements are made for one number of rows: not worth keeping on the server. */
const MAX_PREPARED = 1000

/** Connects on first use; a server that was gone is found again by the next use. */
export function postgresConnection(
  connect: () => Promise<{ readonly sql: Sql; readonly owned: boolean }>,
  tables: Tables,
): PostgresConnection {
  let opening: Promise<{ readonly sql: Sql; readonly owned: boolean }> | undefined
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
    const connection = await connect()
    try {
      await migrate((work) => transaction(connection.sql, work), tables)
      return connection
    } catch (error) {
      if (connection.owned) await connection.sql.end({ timeout: 1 }).catch(() => undefined)
      throw error
    }
  }

  return {
    async read(what, work) {
      try {
        return await work(queriesOn((await opened()).sql))
      } catch (error) {
        throw asStoreError(error, what)
      }
    },
    async write(what, work) {
      for (let tries = 1; ; tries++) {
        try {
          return await transaction((await opened()).sql, work)
        } catch (error) {
          if (!isLostRace(error) || tries === MAX_TRIES) throw asStoreError(error, what)
        }
      }
    },
    async close() {
      closed = true
      const connection = await opening?.catch(() => undefined)
      if (connection?.owned) await connection.sql.end({ timeout: 5 })
    },
  }
}

async function transaction<T>(sql: Sql, work: (queries: Queries) => Promise<T>): Promise<T> {
  return (await sql.begin((tx) => work(queriesOn(tx)))) as T
}

function queriesOn(sql: Sql | TransactionSql): Queries {
  const run = (text: string, values: readonly PostgresValue[]) =>
    sql.unsafe<PostgresRow[]>(text, [...values], { prepare: text.length < MAX_PREPARED })
  return {
    rows: async (text, values) => run(text, values),
    change: async (text, values) => (await run(text, values)).count,
    script: async (text) => void (await sql.unsafe(text)),
  }
}

function closedError(): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = 'The store was closed: open it again with `postgresStore`.'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'closed', detail: 'closed' })
}
