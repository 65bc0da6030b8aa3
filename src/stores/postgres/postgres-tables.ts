import { invalidInput } from '../../store/store-errors.ts'

/** The names of the tables, qualified and quoted. */
export interface Tables {
  readonly schema: string
  readonly version: string
  readonly conversations: string
  readonly entries: string
  readonly gates: string
  readonly grants: string
  readonly references: string
  readonly meta: string
  readonly inherited: string
  readonly blobs: string
  readonly followers: string
  readonly stops: string
  readonly queue: string
  readonly deltas: string
  readonly spools: string
  readonly spoolBlocks: string
}

/** The tables in one PostgreSQL schema; only a plain name may become part of SQL. */
export function tablesIn(schema: string): Tables {
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw invalidInput('schema', 'must be 1 to 63 lower-case letters, digits and underscores')
  }
  const table = (name: string) => `"${schema}".bobbin_${name}`
  return {
    schema,
    version: table('schema'),
    conversations: table('conversations'),
    entries: table('entries'),
    gates: table('gates'),
    grants: table('grants'),
    references: table('references'),
    meta: table('meta'),
    inherited: table('inherited'),
    blobs: table('blobs'),
    followers: table('followers'),
    stops: table('stops'),
    queue: table('queue'),
    deltas: table('deltas'),
    spools: table('spools'),
    spoolBlocks: table('spool_blocks'),
  }
}
