import { createRequire } from 'node:module'

/** What the store itself would open, so that both sides use the same SQLite. */
export function openBare(path) {
  const native = process.getBuiltinModule?.('node:sqlite')
  const require = createRequire(new URL('../../package.json', import.meta.url))
  const Database = native?.DatabaseSync ?? require('libsql')
  const database = new Database(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const spread = native !== undefined
  return {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      const bind = (values) => (spread ? values : [values])
      return {
        run: (...values) => statement.run(...bind(values)),
        get: (...values) => statement.get(...bind(values)),
        all: (...values) => statement.all(...bind(values)),
      }
    },
  }
}
