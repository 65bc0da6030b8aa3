/** The part of a SQLite binding that the store uses, as in `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}

/** The part of a prepared statement that the store uses. */
export interface SqliteStatement {
  run(...parameters: SqliteValue[]): unknown
  get(...parameters: SqliteValue[]): unknown
  all(...parameters: SqliteValue[]): unknown[]
}

/** What a column holds. */
export type SqliteValue = string | number | null | Uint8Array

/** What a statement gives, under the names that it gives to columns. */
export type SqliteRow = Readonly<Record<string, unknown>>

/** An open database that prepares each statement once. */
export interface Sqlite {
  exec(sql: string): void
  run(sql: string, values?: readonly SqliteValue[]): { readonly changes: number }
  get(sql: string, values?: readonly SqliteValue[]): SqliteRow | undefined
  all(sql: string, values?: readonly SqliteValue[]): readonly unknown[]
  close(): void
}

/**
 * Evens out the bindings: `libsql` needs its parameters as an array (a lone buffer ends the process),
 * `node:sqlite` one by one, and `better-sqlite3` takes both.
 */
export function sqliteOver(database: SqliteDatabase, parameters: 'array' | 'spread'): Sqlite {
  const prepared = new Map<string, SqliteStatement>()
  const asArray = parameters === 'array'
  const bound = (values: readonly SqliteValue[]) => (asArray ? [values] : values) as SqliteValue[]
  const statement = (sql: string) => {
    let known = prepared.get(sql)
    if (known === undefined) prepared.set(sql, (known = database.prepare(sql)))
    return known
  }
  return {
    exec: (sql) => void database.exec(sql),
    run: (sql, values = []) => statement(sql).run(...bound(values)) as { changes: number },
    get: (sql, values = []) => statement(sql).get(...bound(values)) as SqliteRow | undefined,
    all: (sql, values = []) => statement(sql).all(...bound(values)),
    close() {
      // A binding may keep the file open as long as statements exist.
      prepared.clear()
      database.close()
    },
  }
}
