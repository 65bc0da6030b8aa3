import type { AppendOutcome, StoreDriver } from '../../store/rows/store-driver.ts'
import type { ConversationRow, EntryRow } from '../../store/rows/store-rows.ts'
import { pageAfter, sqlFilter } from '../sql/sql-filter.ts'
import { sqlListing } from '../sql/sql-listing.ts'
import { insertBatch, REFERENCE_LOCK } from './postgres-append.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { isDuplicate } from './postgres-errors.ts'
import { postgresFeed } from './postgres-feed.ts'
import { insertFork } from './postgres-fork.ts'
import { addGrant, lockGrants, postgresGrants } from './postgres-grants.ts'
import type { Notifications } from './postgres-notifications.ts'
import type { Queries } from './postgres-queries.ts'
import {
  bytesOf,
  CONVERSATION,
  conversationRow,
  ENTRY_COLUMNS,
  entryRow,
  entryText,
  foundText,
  gateRow,
} from './postgres-rows.ts'
import type { Tables } from './postgres-tables.ts'

const OPEN_GATE = "g.state NOT IN ('consumed', 'expired', 'abandoned')"
const TEXT_COLUMNS = 'e.seq, e.digest, e.seal, e.body'

interface Located {
  readonly ref: string
  readonly row: ConversationRow
}

/** The store's tables in a PostgreSQL schema. */
export function postgresDriver(
  connection: PostgresConnection,
  tables: Tables,
  notifications: Notifications,
): StoreDriver {
  const { read, write } = connection
  const { conversations, entries, gates, references, blobs } = tables
  const REF = `(SELECT ref FROM ${conversations} WHERE id = $1)`
  const GATE = `SELECT c.id AS conversation, g.id, g.state, g.digest, g.body
    FROM ${gates} g JOIN ${conversations} c ON c.ref = g.conversation`
  // A gate row that was inserted by hand has no such entry.
  const OPENING = `LEFT JOIN ${entries} e
    ON e.conversation = g.conversation AND e.kind = 'gate-opened' AND e.id = g.id`
  const dialect = { conversations, meta: tables.meta, parameter: (n: number) => `$${n}` }

  const locate = async (
    queries: Queries,
    id: string,
    lock: '' | 'FOR UPDATE',
  ): Promise<Located | undefined> => {
    const sql = `SELECT ${CONVERSATION} FROM ${conversations} WHERE id = $1 ${lock}`
    const [row] = await queries.rows(sql, [id])
    return row && { ref: String(row['ref']), row: conversationRow(row) }
  }

  const logFrom = (columns: string) => (queries: Queries, values: [string, number, number]) =>
    queries.rows(
      `SELECT ${columns} FROM ${entries} e WHERE conversation = ${REF} AND seq >= $2 ORDER BY seq LIMIT $3`,
      values,
    )

  return {
    durable: true,
    async close() {
      await notifications.close()
      await connection.close()
    },
    feed: postgresFeed(connection, tables, notifications),

    acquire: (request) =>
      write('take a conversation', async (queries) => {
        const { conversation, owner, now, until, force } = request
        const { key, keyCheck } = request.newKey()
        const added = await queries.change(
          `INSERT INTO ${conversations} (id, created_at, updated_at, epoch, owner, lease_until, length,
            sealed_seq, seal, key, key_check) VALUES ($1, $2, $2, 1, $3, $4, 0, 0, '', $5, $6)
            ON CONFLICT (id) DO NOTHING`,
          [conversation, now, owner, until, key, keyCheck],
        )
        const { ref, row } = (await locate(queries, conversation, 'FOR UPDATE')) as Located
        if (added === 1) return { granted: true, created: true, row }
        if (!force && row.leaseUntil > now) return { granted: false, created: false, row }
        await queries.change(
          `UPDATE ${conversations} SET epoch = epoch + 1, owner = $2, lease_until = $3 WHERE ref = $1`,
          [ref, owner, until],
        )
        const taken = { ...row, epoch: row.epoch + 1, owner, leaseUntil: until }
        return { granted: true, created: false, row: taken }
      }),

    extend: (conversation, epoch, until) =>
      write(
        'prolong a lease',
        async (queries) => {
          await queries.change(
            `UPDATE ${conversations} SET lease_until = $3 WHERE id = $1 AND epoch = $2`,
            [conversation, epoch, until],
          )
          return (await locate(queries, conversation, ''))?.row
        },
        { findsOut: true },
      ),

    append: async (conversation, epoch, plan) => {
      // The first entry of an attempt whose commit may have got no answer.
      let attempted: EntryRow | undefined
      const append = async (queries: Queries): Promise<AppendOutcome> => {
        // Waits for the transaction of an earlier attempt, so that its result is final.
        const known = await locate(queries, conversation, 'FOR UPDATE')
        if (known === undefined) return { status: 'missing' }
        const { ref, row } = known
        if (attempted && (await isStored(queries, ref, attempted))) {
          return { status: 'done', seq: attempted.seq }
        }
        if (row.epoch !== epoch) return { status: 'stale', current: row.epoch }
        const shown = new Map()
        for (const id of plan.gates) {
          const sql = `${GATE} WHERE c.ref = $1 AND g.id = $2 FOR UPDATE OF g`
          const [gate] = await queries.rows(sql, [ref, id])
          if (gate !== undefined) shown.set(id, gateRow(gate))
        }
        const unsealed = plan.seals ? await digestsAfter(queries, ref, row.sealedSeq) : []
        const grants = await lockGrants(queries, tables, plan.grants)
        const batch = plan.prepare({ row, whole: () => row, gates: shown, grants, unsealed })
        attempted = batch.entries[0]
        await insertBatch(
          queries,
          tables,
          { ref, length: row.length },
          { ...batch, blobs: plan.blobs },
        )
        return { status: 'done', seq: row.length + 1 }
      }
      try {
        return await write('append entries', append, { findsOut: true })
      } catch (error) {
        if (isDuplicate((error as Error).cause)) return { status: 'duplicate' }
        throw error
      }
    },

    texts: (conversation, from, limit) =>
      read('read entries', async (queries) =>
        (await logFrom(TEXT_COLUMNS)(queries, [conversation, from, limit])).map(entryText),
      ),

    rows: (conversation, from, limit) =>
      read('read entries', async (queries) => {
        const columns = ENTRY_COLUMNS.join(', ')
        return (await logFrom(columns)(queries, [conversation, from, limit])).map(entryRow)
      }),

    text: (conversation, kind, id) =>
      read('read an entry', async (queries) => {
        const sql = `SELECT ${TEXT_COLUMNS} FROM ${entries} e WHERE conversation = ${REF} AND kind = $2 AND id = $3`
        const [row] = await queries.rows(sql, [conversation, kind, id])
        return row && entryText(row)
      }),

    find: (filter, { after, limit, descending }) =>
      read('search entries', async (queries) => {
        const { where, values, order } = sqlFilter(filter, dialect)
        const n = values.length
        const sql = `SELECT ${TEXT_COLUMNS}, c.id AS conversation, ${order} AS position
          FROM ${entries} e JOIN ${conversations} c ON c.ref = e.conversation
          WHERE ${where} AND ${pageAfter(order, descending, `$${n + 1}`)} LIMIT $${n + 2}`
        return (await queries.rows(sql, [...values, after, limit])).map(foundText)
      }),

    count: (filter) =>
      read('count entries', async (queries) => {
        const { where, values } = sqlFilter(filter, dialect)
        const sql = `SELECT count(*) AS n FROM ${entries} e WHERE ${where}`
        return Number((await queries.rows(sql, values))[0]?.['n'])
      }),

    conversation: (id) =>
      read('read a conversation', async (queries) => (await locate(queries, id, ''))?.row),

    conversations: (listing) =>
      read('list conversations', async (queries) => {
        const { rest, values } = sqlListing(listing, dialect)
        const sql = `SELECT ${CONVERSATION} FROM ${conversations} c ${rest}`
        return (await queries.rows(sql, values)).map(conversationRow)
      }),

    setMeta: (conversation, change) =>
      write('set metadata', async (queries) => {
        const known = await locate(queries, conversation, 'FOR UPDATE')
        if (known === undefined) return undefined
        const { ref, row } = known
        const { meta, columns } = change(row.meta)
        await queries.change(`UPDATE ${conversations} SET meta = $2 WHERE ref = $1`, [ref, meta])
        await queries.change(`DELETE FROM ${tables.meta} WHERE conversation = $1`, [ref])
        for (const { name, value } of columns) {
          const sql = `INSERT INTO ${tables.meta} (conversation, name, value) VALUES ($1, $2, $3)`
          await queries.change(sql, [ref, name, value])
        }
        return { ...row, meta }
      }),

    gate: (conversation, id) =>
      read('read a gate', async (queries) => {
        const [row] = await queries.rows(`${GATE} WHERE c.id = $1 AND g.id = $2`, [
          conversation,
          id,
        ])
        return row && gateRow(row)
      }),

    gates: ({ conversation, open, after, limit }) =>
      read('list gates', async (queries) => {
        const values: (string | number)[] = [limit]
        const parameter = (value: string) => `$${values.push(value)}`
        const parts = [open ? OPEN_GATE : 'true']
        if (conversation !== undefined) parts.push(`c.id = ${parameter(conversation)}`)
        if (after !== undefined) {
          parts.push(`e.position > (SELECT o.position FROM ${entries} o
            JOIN ${conversations} a ON a.ref = o.conversation
            WHERE a.id = ${parameter(after.conversation)} AND o.kind = 'gate-opened' AND o.id = ${parameter(after.id)})`)
        }
        const sql = `${GATE} ${OPENING} WHERE ${parts.join(' AND ')} ORDER BY e.position LIMIT $1`
        return (await queries.rows(sql, values)).map(gateRow)
      }),

    replaceGate: (gate, expected, grant) =>
      write('change a gate', async (queries) => {
        const { conversation, id, state, digest, body } = gate
        const sql = `UPDATE ${gates} SET state = $3, digest = $4, body = $5
          WHERE conversation = ${REF} AND id = $2 AND digest = $6`
        const values = [conversation, id, state, digest, body, expected]
        const isReplaced = (await queries.change(sql, values)) === 1
        if (isReplaced && grant !== undefined) await addGrant(queries, tables, grant)
        return isReplaced
      }),

    ...postgresGrants(connection, tables),

    blob: (digest) =>
      read('read a blob', async (queries) => {
        const [row] = await queries.rows(`SELECT bytes FROM ${blobs} WHERE digest = $1`, [digest])
        return row && bytesOf(row['bytes'])
      }),

    references: (conversation, after, limit) =>
      read('list references', async (queries) => {
        const where = conversation === undefined ? 'true' : `conversation = ${REF}`
        const values = conversation === undefined ? [] : [conversation]
        const n = values.length
        const sql = `SELECT DISTINCT digest FROM ${references} WHERE ${where} AND digest > $${n + 1}
          ORDER BY digest LIMIT $${n + 2}`
        const rows = await queries.rows(sql, [...values, after, limit])
        return rows.map((row) => String(row['digest']))
      }),

    fork: (plan) =>
      write('fork a conversation', (queries) => insertFork(queries, tables, plan), {
        findsOut: true,
      }),

    inherited: (fork) =>
      read('list conversations', async (queries) => {
        const sql = `SELECT nested FROM ${tables.inherited} WHERE conversation = ${REF}`
        return (await queries.rows(sql, [fork])).map((row) => String(row['nested']))
      }),

    isInherited: (conversation, except) =>
      read('look for forks', async (queries) => {
        const sql = `SELECT 1 FROM ${tables.inherited}
          WHERE nested = $2 AND conversation IS DISTINCT FROM ${REF} LIMIT 1`
        return (await queries.rows(sql, [except, conversation])).length > 0
      }),

    delete: (conversation) =>
      write('delete a conversation', async (queries) => {
        // No reference may be added while unused blobs are looked for.
        await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)', [REFERENCE_LOCK])
        const known = await locate(queries, conversation, 'FOR UPDATE')
        if (known === undefined) return false
        await queries.change(
          `DELETE FROM ${blobs} b USING ${references} r WHERE r.conversation = $1 AND b.digest = r.digest
            AND NOT EXISTS (SELECT 1 FROM ${references} o WHERE o.digest = r.digest AND o.conversation <> $1)`,
          [known.ref],
        )
        await queries.change(`DELETE FROM ${conversations} WHERE ref = $1`, [known.ref])
        return true
      }),
  }

  async function isStored(queries: Queries, ref: string, entry: EntryRow): Promise<boolean> {
    const sql = `SELECT digest FROM ${entries} WHERE conversation = $1 AND seq = $2`
    const [row] = await queries.rows(sql, [ref, entry.seq])
    return row?.['digest'] === entry.digest
  }

  async function digestsAfter(queries: Queries, ref: string, seq: number): Promise<string[]> {
    const sql = `SELECT digest FROM ${entries} WHERE conversation = $1 AND seq > $2 ORDER BY seq`
    return (await queries.rows(sql, [ref, seq])).map((row) => String(row['digest']))
  }
}
