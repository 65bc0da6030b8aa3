export { type PostgresSpool, type PostgresSpoolOptions, postgresSpool } from './postgres-spool.ts'
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts'
