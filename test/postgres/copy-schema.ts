import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { tablesIn } from '../../src/stores/postgres/postgres-tables.ts'

/** Does something with a connection of its own. */
async function withClient<T>(url: string, act: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await act(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Makes a schema whose tables hold what those of another one hold. */
export async function copySchema(url: string, from: string, to: string): Promise<void> {
  const store = postgresStore({ url, schema: to, connections: 1 })
  await store.conversations()
  await store.close()
  const [source, copy] = [tablesIn(from), tablesIn(to)]
  await withClient(url, async (sql) => {
    for (const name of ['conversations', 'entries', 'gates', 'references', 'blobs'] as const) {
      await sql.unsafe(
        `INSERT INTO ${copy[name]} OVERRIDING SYSTEM VALUE SELECT * FROM ${source[name]}`,
      )
    }
    const numbered = [
      [copy.conversations, 'ref'],
      [copy.entries, 'position'],
    ] as const
    for (const [table, column] of numbered) {
      const sequence = `pg_get_serial_sequence('${table}', '${column}')`
      await sql.unsafe(
        `SELECT setval(${sequence}, (SELECT coalesce(max(${column}), 0) + 1 FROM ${table}), false)`,
      )
    }
  })
}

export function dropSchema(url: string, schema: string): Promise<unknown> {
  return withClient(url, (sql) => sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
}

/** Waits for the server to end what a process was about that is no longer there. */
export function goneFrom(url: string, application: string): Promise<void> {
  return withClient(url, async (sql) => {
    for (let tries = 0; tries < 1000; tries++) {
      const left = await sql`SELECT 1 FROM pg_stat_activity WHERE application_name = ${application}`
      if (left.length === 0) return
      await sleep(5)
    }
    throw new Error(`the server still works for \`${application}\``)
  })
}
