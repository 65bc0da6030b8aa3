export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts'
export { type SqliteStoreOptions, sqliteStore } from './sqlite-store.ts'
