/** What is used of a SQLite binding: `better-sqlite3` and everything of its shape fits. */
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

export type SqliteRow = Readonly<Record<string, unknown>>

/** One prepared statement, whatever the binding: parameters go in as one list. */
export interface Statement {
  run(parameters: readonly SqliteValue[]): { readonly changes: number }
  get(parameters: readonly SqliteValue[]): SqliteRow | undefined
  all(parameters: readonly SqliteValue[]): readonly SqliteRow[]
}

/** An open database that prepares each statement once. */
export interface Sqlite {
  exec(sql: string): void
  statement(sql: string): Statement
  close(): void
}

/**
 * Evens out the bindings: `libsql` needs its parameters as an array (a lone buffer ends the process),
 * `node:sqlite` one by one, and `better-sqlite3` takes both.
 */
export function sqliteOver(database: SqliteDatabase, parameters: 'array' | 'spread'): Sqlite {
  const prepared = new Map<string, Statement>()
  const asArray = parameters === 'array'
  return {
    exec: (sql) => void database.exec(sql),
    statement(sql) {
      const known = prepared.get(sql)
      if (known !== undefined) return known
      const raw = database.prepare(sql)
      const bind = (values: readonly SqliteValue[]) =>
        (asArray ? [values] : values) as SqliteValue[]
      const made: Statement = {
        run: (values) => raw.run(...bind(values)) as { changes: number },
        get: (values) => raw.get(...bind(values)) as SqliteRow | undefined,
        all: (values) => raw.all(...bind(values)) as SqliteRow[],
      }
      prepared.set(sql, made)
      return made
    },
    close() {
      // A binding may keep the file open for as long as statements are about.
      prepared.clear()
      database.close()
    },
  }
}
