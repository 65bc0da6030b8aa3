import type { Sql, TransactionSql } from 'postgres'

export type PostgresRow = Readonly<Record<string, unknown>>
export type PostgresValue = string | number | null | Uint8Array

/** Statements on one connection or on any. */
export interface Queries {
  rows(text: string, values: readonly PostgresValue[]): Promise<readonly PostgresRow[]>
  /** Gives how many rows were changed. */
  change(text: string, values: readonly PostgresValue[]): Promise<number>
  /** Several statements at once, without values. */
  script(text: string): Promise<void>
}

/** Longer statements are made for one number of rows: not worth keeping on the server. */
const MAX_PREPARED = 1000

/** Statements as the client takes them. */
export function queriesOn(sql: Sql | TransactionSql): Queries {
  const run = (text: string, values: readonly PostgresValue[]) =>
    sql.unsafe<PostgresRow[]>(text, [...values], { prepare: text.length < MAX_PREPARED })
  return {
    rows: async (text, values) => run(text, values),
    change: async (text, values) => (await run(text, values)).count,
    script: async (text) => void (await sql.unsafe(text)),
  }
}
