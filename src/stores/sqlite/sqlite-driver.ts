import { sqlFilter } from '../../store/sql-filter.ts'
import type { AppendBatch, StoreDriver } from '../../store/store-driver.ts'
import type { ConversationRow } from '../../store/store-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Sqlite, SqliteRow } from './sqlite-database.ts'
import { isDuplicate } from './sqlite-errors.ts'
import {
  bytesOf,
  conversationRow,
  ENTRY_COLUMNS,
  entryRow,
  entryText,
  entryValues,
  foundText,
  gateRow,
  TEXT_COLUMNS,
} from './sqlite-rows.ts'

const OPEN_GATE = "g.state NOT IN ('consumed', 'expired', 'abandoned')"
const GATE = `SELECT c.id AS conversation, g.id, g.state, g.digest, g.body
  FROM bobbin_gates g JOIN bobbin_conversations c ON c.ref = g.conversation`
/** The entry that opened a gate; a gate that somebody put there by hand has none. */
const OPENING = `LEFT JOIN bobbin_entries e
  ON e.conversation = g.conversation AND e.kind = 'gate-opened' AND e.id = g.id`
const DIALECT = { conversations: 'bobbin_conversations', parameter: () => '?' } as const
const REF = '(SELECT ref FROM bobbin_conversations WHERE id = ?)'
const LAST_POSITION = '(SELECT coalesce(max(position), 0) FROM bobbin_entries)'
/** Null, for SQLite to count on from the last entry, unless later ones were deleted. */
const NEXT_POSITION = `(SELECT used + 1 FROM bobbin_positions WHERE used > ${LAST_POSITION})`

/** What most appends need of a conversation: each column more costs as much as a page. */
const APPENDED_TO =
  'SELECT ref, epoch, length, sealed_seq AS sealedSeq, seal FROM bobbin_conversations WHERE id = ?'

interface AppendedTo extends Pick<ConversationRow, 'epoch' | 'length' | 'sealedSeq' | 'seal'> {
  readonly ref: number
}

interface Located {
  readonly ref: number
  readonly row: ConversationRow
}

/** The store's tables in a SQLite file. */
export function sqliteDriver(connection: SqliteConnection): StoreDriver {
  const { read, write } = connection
  return {
    durable: true,
    close: connection.close,

    acquire: (request) =>
      write('take a conversation', (sqlite) => {
        const { conversation, owner, now, until, force, newKey } = request
        const known = locate(sqlite, conversation)
        if (known === undefined) {
          const { key, keyCheck } = newKey()
          sqlite
            .statement(
              `INSERT INTO bobbin_conversations (id, created_at, updated_at, epoch, owner, lease_until,
                length, sealed_seq, seal, key, key_check) VALUES (?, ?, ?, 1, ?, ?, 0, 0, '', ?, ?)`,
            )
            .run([conversation, now, now, owner, until, key, keyCheck])
        } else if (force || known.row.leaseUntil <= now) {
          sqlite
            .statement(
              'UPDATE bobbin_conversations SET epoch = epoch + 1, owner = ?, lease_until = ? WHERE ref = ?',
            )
            .run([owner, until, known.ref])
        } else return { granted: false, created: false, row: known.row }
        const { row } = locate(sqlite, conversation) as Located
        return { granted: true, created: known === undefined, row }
      }),

    extend: (conversation, epoch, until) =>
      write('prolong a lease', (sqlite) => {
        sqlite
          .statement('UPDATE bobbin_conversations SET lease_until = ? WHERE id = ? AND epoch = ?')
          .run([until, conversation, epoch])
        return locate(sqlite, conversation)?.row
      }),

    append: (conversation, epoch, plan) =>
      write('append entries', (sqlite) => {
        const known = sqlite.statement(APPENDED_TO).get([conversation]) as AppendedTo | undefined
        if (known === undefined) return { status: 'missing' } as const
        const { ref } = known
        if (known.epoch !== epoch) return { status: 'stale', current: known.epoch } as const
        const gates = plan.gates.flatMap((id) => {
          const gate = sqlite.statement(`${GATE} WHERE c.ref = ? AND g.id = ?`).get([ref, id])
          return gate === undefined ? [] : [[id, gateRow(gate)] as const]
        })
        const unsealed = plan.seals ? digestsAfter(sqlite, ref, known.sealedSeq) : []
        const whole = () => (locate(sqlite, conversation) as Located).row
        const batch = plan.prepare({ row: known, whole, gates: new Map(gates), unsealed })
        insert(sqlite, known, batch)
        return { status: 'done' } as const
      }).catch((error: unknown) => {
        if (isDuplicate(error)) return { status: 'duplicate' } as const
        throw error
      }),

    texts: (conversation, from, limit) =>
      read('read entries', (sqlite) =>
        logFrom(sqlite, TEXT_COLUMNS, conversation, from, limit).map(entryText),
      ),

    rows: (conversation, from, limit) =>
      read('read entries', (sqlite) =>
        logFrom(sqlite, ENTRY_COLUMNS, conversation, from, limit).map(entryRow),
      ),

    text: (conversation, kind, id) =>
      read('read an entry', (sqlite) => {
        const row = sqlite
          .statement(
            `SELECT ${TEXT_COLUMNS} FROM bobbin_entries WHERE conversation = ${REF} AND kind = ? AND id = ?`,
          )
          .get([conversation, kind, id])
        return row && entryText(row)
      }),

    find(filter, after, limit) {
      const { where, values, order } = sqlFilter(filter, DIALECT)
      const sql = `SELECT e.seq, e.digest, e.seal, e.body, c.id AS conversation, ${order} AS position
        FROM bobbin_entries e JOIN bobbin_conversations c ON c.ref = e.conversation
        WHERE ${where} AND ${order} > ? ORDER BY ${order} LIMIT ?`
      return read('search entries', (sqlite) =>
        sqlite
          .statement(sql)
          .all([...values, after, limit])
          .map(foundText),
      )
    },

    count(filter) {
      const { where, values } = sqlFilter(filter, DIALECT)
      const sql = `SELECT count(*) AS n FROM bobbin_entries e WHERE ${where}`
      return read('count entries', (sqlite) => Number(sqlite.statement(sql).get(values)?.['n']))
    },

    conversation: (id) => read('read a conversation', (sqlite) => locate(sqlite, id)?.row),

    conversations: (after, limit) =>
      read('list conversations', (sqlite) =>
        sqlite
          .statement('SELECT * FROM bobbin_conversations WHERE id > ? ORDER BY id LIMIT ?')
          .all([after, limit])
          .map(conversationRow),
      ),

    gate: (conversation, id) =>
      read('read a gate', (sqlite) => {
        const row = sqlite.statement(`${GATE} WHERE c.id = ? AND g.id = ?`).get([conversation, id])
        return row && gateRow(row)
      }),

    gates: ({ conversation, open, limit }) =>
      read('list gates', (sqlite) => {
        const states = open ? OPEN_GATE : '1'
        const inOne = conversation === undefined ? [] : [conversation]
        const where = conversation === undefined ? states : `${states} AND c.id = ?`
        const sql = `${GATE} ${OPENING} WHERE ${where} ORDER BY e.position LIMIT ?`
        return sqlite
          .statement(sql)
          .all([...inOne, limit])
          .map(gateRow)
      }),

    replaceGate: (gate, expected) =>
      write('change a gate', (sqlite) => {
        const { conversation, id, state, digest, body } = gate
        const { changes } = sqlite
          .statement(
            `UPDATE bobbin_gates SET state = ?, digest = ?, body = ? WHERE conversation = ${REF} AND id = ? AND digest = ?`,
          )
          .run([state, digest, body, conversation, id, expected])
        return changes === 1
      }),

    blob: (digest) =>
      read('read a blob', (sqlite) => {
        const row = sqlite
          .statement('SELECT bytes FROM bobbin_blobs WHERE digest = ?')
          .get([digest])
        return row && bytesOf(row['bytes'])
      }),

    references: (conversation, after, limit) =>
      read('list references', (sqlite) => {
        const inOne = conversation === undefined ? [] : [conversation]
        const where = conversation === undefined ? '' : `conversation = ${REF} AND`
        const sql = `SELECT DISTINCT digest FROM bobbin_references WHERE ${where} digest > ? ORDER BY digest LIMIT ?`
        return sqlite
          .statement(sql)
          .all([...inOne, after, limit])
          .map((row) => String(row['digest']))
      }),

    delete: (conversation) =>
      write('delete a conversation', (sqlite) => {
        const known = locate(sqlite, conversation)
        if (known === undefined) return false
        sqlite
          .statement(
            `DELETE FROM bobbin_blobs WHERE digest IN (
              SELECT digest FROM bobbin_references r WHERE r.conversation = ? AND NOT EXISTS (
                SELECT 1 FROM bobbin_references o WHERE o.digest = r.digest AND o.conversation <> ?))`,
          )
          .run([known.ref, known.ref])
        sqlite.statement(`UPDATE bobbin_positions SET used = max(used, ${LAST_POSITION})`).run([])
        sqlite.statement('DELETE FROM bobbin_conversations WHERE ref = ?').run([known.ref])
        return true
      }),
  }
}

function locate(sqlite: Sqlite, conversation: string): Located | undefined {
  const row = sqlite
    .statement('SELECT * FROM bobbin_conversations WHERE id = ?')
    .get([conversation])
  return row && { ref: Number(row['ref']), row: conversationRow(row) }
}

function logFrom(
  sqlite: Sqlite,
  columns: string,
  conversation: string,
  from: number,
  limit: number,
): readonly SqliteRow[] {
  const sql = `SELECT ${columns} FROM bobbin_entries WHERE conversation = ${REF} AND seq >= ? ORDER BY seq LIMIT ?`
  return sqlite.statement(sql).all([conversation, from, limit])
}

function digestsAfter(sqlite: Sqlite, ref: number, seq: number): string[] {
  return sqlite
    .statement('SELECT digest FROM bobbin_entries WHERE conversation = ? AND seq > ? ORDER BY seq')
    .all([ref, seq])
    .map((row) => String(row['digest']))
}

function insert(sqlite: Sqlite, known: AppendedTo, batch: AppendBatch): void {
  const { ref } = known
  const addEntry = sqlite.statement(
    `INSERT INTO bobbin_entries (position, conversation, ${ENTRY_COLUMNS})
      VALUES (${NEXT_POSITION}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const entry of batch.entries) addEntry.run([ref, ...entryValues(entry)])
  for (const { id, state, digest, body } of batch.gates) {
    sqlite
      .statement(
        'INSERT OR REPLACE INTO bobbin_gates (conversation, id, state, digest, body) VALUES (?, ?, ?, ?, ?)',
      )
      .run([ref, id, state, digest, body])
  }
  for (const { digest, bytes } of batch.blobs) {
    sqlite
      .statement('INSERT OR IGNORE INTO bobbin_blobs (digest, bytes) VALUES (?, ?)')
      .run([digest, bytes])
  }
  for (const digest of batch.references) {
    sqlite
      .statement('INSERT OR IGNORE INTO bobbin_references (conversation, digest) VALUES (?, ?)')
      .run([ref, digest])
  }
  const length = known.length + batch.entries.length
  if (batch.sealedSeq === known.sealedSeq) {
    sqlite
      .statement('UPDATE bobbin_conversations SET length = ?, updated_at = ? WHERE ref = ?')
      .run([length, batch.updatedAt, ref])
    return
  }
  sqlite
    .statement(
      'UPDATE bobbin_conversations SET length = ?, updated_at = ?, sealed_seq = ?, seal = ? WHERE ref = ?',
    )
    .run([length, batch.updatedAt, batch.sealedSeq, batch.seal, ref])
}
