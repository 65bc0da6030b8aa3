import type { ForkOutcome, ForkPlan } from '../../store/rows/store-driver.ts'
import { insertEntries, insertGates, REFERENCE_LOCK } from './postgres-append.ts'
import type { Queries } from './postgres-queries.ts'
import { ENTRY_COLUMNS } from './postgres-rows.ts'
import type { Tables } from './postgres-tables.ts'

/** Makes a fork. The entries are copied inside the database. */
export async function insertFork(
  queries: Queries,
  tables: Tables,
  plan: ForkPlan,
): Promise<ForkOutcome> {
  const { conversations, entries, meta, references, inherited } = tables
  const { row } = plan
  await queries.rows('SELECT pg_advisory_xact_lock_shared($1::bigint)', [REFERENCE_LOCK])
  const origin = await originRef(queries, tables, plan)
  if (origin === undefined) return 'missing'
  const [made] = await queries.rows(
    `INSERT INTO ${conversations} (id, created_at, updated_at, epoch, owner, lease_until, length,
        sealed_seq, seal, key, key_check, meta, parent, envelope, origin, agent)
      SELECT $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, meta, $13, $14, $15, $16
        FROM ${conversations} WHERE ref = $1
      ON CONFLICT (id) DO NOTHING RETURNING ref`,
    [
      origin,
      ...[row.id, row.createdAt, row.updatedAt, row.epoch, row.owner, row.leaseUntil, row.length],
      ...[row.sealedSeq, row.seal, row.key, row.keyCheck, row.parent, row.envelope, row.origin],
      row.agent,
    ],
  )
  if (made === undefined) {
    const sql = `SELECT origin FROM ${conversations} WHERE id = $1`
    const [known] = await queries.rows(sql, [row.id])
    return known?.['origin'] === row.origin ? 'done' : 'exists'
  }
  const ref = String(made['ref'])
  await queries.change(
    `INSERT INTO ${meta} (conversation, name, value)
      SELECT $2, name, value FROM ${meta} WHERE conversation = $1`,
    [origin, ref],
  )
  const columns = ENTRY_COLUMNS.join(', ')
  await queries.change(
    `INSERT INTO ${entries} (conversation, ${columns})
      SELECT $2, ${columns} FROM ${entries} WHERE conversation = $1 AND seq <= $3 ORDER BY seq`,
    [origin, ref, plan.length],
  )
  await insertEntries(queries, tables, ref, plan.entries)
  await insertGates(queries, tables, ref, plan.gates)
  await queries.change(
    `INSERT INTO ${references} (conversation, digest) SELECT $1, json_array_elements_text($2::text::json)`,
    [ref, JSON.stringify(plan.references)],
  )
  await queries.change(
    `INSERT INTO ${inherited} (conversation, nested) SELECT $1, id FROM ${conversations}
      WHERE id IN (SELECT json_array_elements_text($2::text::json)) AND parent IS NOT NULL`,
    [ref, JSON.stringify(plan.inside)],
  )
  return 'done'
}

/** The origin, if it still has the entries that were read. */
async function originRef(
  queries: Queries,
  { conversations, entries }: Tables,
  { from, length, digest }: ForkPlan,
): Promise<string | undefined> {
  // Locked, so that it is not deleted meanwhile.
  const sql = `SELECT ref FROM ${conversations} WHERE id = $1 FOR SHARE`
  const [origin] = await queries.rows(sql, [from])
  if (origin === undefined) return undefined
  const ref = String(origin['ref'])
  const last = `SELECT digest FROM ${entries} WHERE conversation = $1 AND seq = $2`
  const [entry] = await queries.rows(last, [ref, length])
  const found = entry === undefined ? '' : entry['digest']
  return found === digest ? ref : undefined
}
