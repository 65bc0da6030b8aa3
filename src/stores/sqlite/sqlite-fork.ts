import type { ForkOutcome, ForkPlan } from '../../store/rows/store-driver.ts'
import type { Sqlite } from './sqlite-database.ts'
import { asBytes, ENTRY_COLUMNS, entryValues, textOf } from './sqlite-rows.ts'
import { indexEntries } from './sqlite-search.ts'

/** Makes a fork. The entries are copied inside the database. */
export function insertFork(sqlite: Sqlite, plan: ForkPlan, lastPosition: string): ForkOutcome {
  const { row } = plan
  const known = sqlite.get(`SELECT ${asBytes('origin')} FROM bobbin_conversations WHERE id = ?`, [
    row.id,
  ])
  if (known !== undefined) return textOf(known['origin']) === row.origin ? 'done' : 'exists'
  const origin = originRef(sqlite, plan)
  if (origin === undefined) return 'missing'
  sqlite.run(
    `INSERT INTO bobbin_conversations (id, created_at, updated_at, epoch, owner, lease_until, length,
        sealed_seq, seal, key, key_check, meta, parent, envelope, origin, agent)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, meta, ?, ?, ?, ? FROM bobbin_conversations WHERE ref = ?`,
    [
      ...[row.id, row.createdAt, row.updatedAt, row.epoch, row.owner, row.leaseUntil, row.length],
      ...[row.sealedSeq, row.seal, row.key, row.keyCheck, row.parent, row.envelope, row.origin],
      row.agent,
      origin,
    ],
  )
  const made = sqlite.get('SELECT ref FROM bobbin_conversations WHERE id = ?', [row.id])
  const ref = Number(made?.['ref'])
  sqlite.run(
    `INSERT INTO bobbin_meta (conversation, name, value)
      SELECT ?, name, value FROM bobbin_meta WHERE conversation = ?`,
    [ref, origin],
  )
  copyEntries(sqlite, plan, { origin, ref, lastPosition })
  for (const { id, state, digest, body } of plan.gates) {
    sqlite.run(
      'INSERT INTO bobbin_gates (conversation, id, state, digest, body) VALUES (?, ?, ?, ?, ?)',
      [ref, id, state, digest, body],
    )
  }
  sqlite.run(
    'INSERT INTO bobbin_references (conversation, digest) SELECT ?, value FROM json_each(?)',
    [ref, JSON.stringify(plan.references)],
  )
  sqlite.run(
    `INSERT INTO bobbin_inherited (conversation, nested)
      SELECT ?, id FROM bobbin_conversations
      WHERE id IN (SELECT value FROM json_each(?)) AND parent IS NOT NULL`,
    [ref, JSON.stringify(plan.inside)],
  )
  return 'done'
}

function copyEntries(
  sqlite: Sqlite,
  { row, length, entries }: ForkPlan,
  at: { readonly origin: number; readonly ref: number; readonly lastPosition: string },
): void {
  const { origin, ref, lastPosition } = at
  const known = sqlite.get(
    `SELECT indexed, max(used, ${lastPosition}) AS last FROM bobbin_positions`,
  )
  const [indexed, last] = [Number(known?.['indexed']), Number(known?.['last'])]
  // Many copies go into the search indexes at once, after the entries that wait for it.
  const isIndexed = indexEntries(sqlite, indexed, last + row.length) ? 1 : 0
  sqlite.run(
    `INSERT INTO bobbin_entries (position, conversation, ${ENTRY_COLUMNS}, indexed)
      SELECT ? + seq, ?, ${ENTRY_COLUMNS}, ? FROM bobbin_entries WHERE conversation = ? AND seq <= ?`,
    [last, ref, isIndexed, origin, length],
  )
  for (const entry of entries) {
    const values = Array.from({ length: 14 }, () => '?').join(', ')
    sqlite.run(
      `INSERT INTO bobbin_entries (position, conversation, ${ENTRY_COLUMNS}, indexed) VALUES (${values})`,
      [last + entry.seq, ref, ...entryValues(entry), isIndexed],
    )
  }
}

/** The origin, if it still has the entries that were read. */
function originRef(sqlite: Sqlite, { from, length, digest }: ForkPlan): number | undefined {
  const origin = sqlite.get('SELECT ref FROM bobbin_conversations WHERE id = ?', [from])
  if (origin === undefined) return undefined
  const ref = Number(origin['ref'])
  const sql = `SELECT ${asBytes('digest')} FROM bobbin_entries WHERE conversation = ? AND seq = ?`
  return textOf(sqlite.get(sql, [ref, length])?.['digest']) === digest ? ref : undefined
}
