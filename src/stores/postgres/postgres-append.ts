import type { AppendBatch } from '../../store/rows/store-driver.ts'
import type { BlobRow, EntryRow, GateRow } from '../../store/rows/store-rows.ts'
import { changeGrant } from './postgres-grants.ts'
import type { PostgresValue, Queries } from './postgres-queries.ts'
import { ENTRY_COLUMNS } from './postgres-rows.ts'
import type { Tables } from './postgres-tables.ts'

/** Transactions that add references share this lock. Deleting unused blobs needs it alone. */
export const REFERENCE_LOCK = 0x62_6f_63

interface WithBlobs {
  readonly blobs: readonly BlobRow[]
}

/** How many entries one statement adds; its parameters are limited to 65,535. */
const CHUNK = 1000

/** Writes a prepared append; the conversation's row is locked by then. */
export async function insertBatch(
  queries: Queries,
  tables: Tables,
  conversation: { readonly ref: string; readonly length: number },
  batch: AppendBatch & WithBlobs,
): Promise<void> {
  const { ref } = conversation
  await insertEntries(queries, tables, ref, batch.entries)
  await insertGates(queries, tables, ref, batch.gates)
  for (const grant of batch.grants) await changeGrant(queries, tables, grant)
  await insertBytes(queries, tables, ref, batch)
  await queries.change(
    `UPDATE ${tables.conversations} SET length = $2, updated_at = $3, sealed_seq = $4, seal = $5 WHERE ref = $1`,
    [ref, conversation.length + batch.entries.length, batch.updatedAt, batch.sealedSeq, batch.seal],
  )
  if (batch.parent !== undefined) {
    const sql = `UPDATE ${tables.conversations} SET parent = $2 WHERE ref = $1`
    await queries.change(sql, [ref, batch.parent])
  }
  if (batch.agent !== undefined) {
    const sql = `UPDATE ${tables.conversations} SET agent = $2 WHERE ref = $1`
    await queries.change(sql, [ref, batch.agent])
  }
}

export async function insertEntries(
  queries: Queries,
  tables: Tables,
  ref: string,
  entries: readonly EntryRow[],
): Promise<void> {
  for (let at = 0; at < entries.length; at += CHUNK) {
    const chunk = entries.slice(at, at + CHUNK)
    const values: PostgresValue[] = [ref]
    const tuples = chunk.map((entry) => {
      const places = ENTRY_COLUMNS.map((column) => `$${values.push(entry[column])}`)
      return `($1, ${places.join(', ')})`
    })
    const columns = ENTRY_COLUMNS.join(', ')
    await queries.change(
      `INSERT INTO ${tables.entries} (conversation, ${columns}) VALUES ${tuples.join(', ')}`,
      values,
    )
  }
}

export async function insertGates(
  queries: Queries,
  tables: Tables,
  ref: string,
  gates: readonly GateRow[],
): Promise<void> {
  for (const { id, state, digest, body } of gates) {
    await queries.change(
      `INSERT INTO ${tables.gates} (conversation, id, state, digest, body) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (conversation, id) DO UPDATE SET state = $3, digest = $4, body = $5`,
      [ref, id, state, digest, body],
    )
  }
}

async function insertBytes(
  queries: Queries,
  tables: Tables,
  ref: string,
  { blobs, references }: Pick<AppendBatch, 'references'> & WithBlobs,
): Promise<void> {
  if (blobs.length === 0 && references.length === 0) return
  await queries.rows('SELECT pg_advisory_xact_lock_shared($1::bigint)', [REFERENCE_LOCK])
  // In one order everywhere, so that two transactions never wait for each other.
  const inOrder = [...blobs].sort((a, b) => (a.digest < b.digest ? -1 : 1))
  for (const { digest, bytes } of inOrder) {
    await queries.change(
      `INSERT INTO ${tables.blobs} (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [digest, bytes],
    )
  }
  for (const digest of [...references].sort()) {
    await queries.change(
      `INSERT INTO ${tables.references} (conversation, digest) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [ref, digest],
    )
  }
}
