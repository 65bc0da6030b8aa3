import type { AppendBatch, StoreDriver } from '../../store/rows/store-driver.ts'
import type { BlobRow, ConversationRow } from '../../store/rows/store-rows.ts'
import { sqlListing } from '../sql/sql-listing.ts'
import type { DeltaFiles } from './delta-file.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Sqlite, SqliteRow } from './sqlite-database.ts'
import { isDuplicate } from './sqlite-errors.ts'
import { sqliteFeed } from './sqlite-feed.ts'
import { insertFork } from './sqlite-fork.ts'
import { addGrant, changeGrant, grantsIn, sqliteGrants } from './sqlite-grants.ts'
import {
  asBytes,
  bytesOf,
  CONVERSATION_FIELDS,
  conversationRow,
  ENTRY_COLUMNS,
  ENTRY_FIELDS,
  entryRow,
  entryText,
  entryValues,
  gateRow,
  TEXT_FIELDS,
  textOf,
} from './sqlite-rows.ts'
import { countEntries, findEntries, indexEntries } from './sqlite-search.ts'

const OPEN_GATE = "g.state NOT IN ('consumed', 'expired', 'abandoned')"
const GATE = `SELECT CAST(c.id AS BLOB) AS conversation, ${asBytes('id, state, digest, body', 'g.')}
  FROM bobbin_gates g JOIN bobbin_conversations c ON c.ref = g.conversation`
/** The entry that opened a gate. A gate row that was inserted by hand has none. */
const OPENING = `LEFT JOIN bobbin_entries e
  ON e.conversation = g.conversation AND e.kind = 'gate-opened' AND e.id = g.id`
const DIALECT = { meta: 'bobbin_meta', parameter: () => '?' } as const
const REF = '(SELECT ref FROM bobbin_conversations WHERE id = ?)'
const OPENED_AT = `(SELECT position FROM bobbin_entries
  WHERE conversation = ${REF} AND kind = 'gate-opened' AND id = ?)`
const LAST_POSITION = '(SELECT coalesce(max(position), 0) FROM bobbin_entries)'

const logFrom = (columns: string) =>
  `SELECT ${columns} FROM bobbin_entries WHERE conversation = ${REF} AND seq >= ? ORDER BY seq LIMIT ?`

const ADD_ENTRY = `INSERT INTO bobbin_entries (position, conversation, ${ENTRY_COLUMNS}, indexed)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`

/** What most appends need, in one statement. Reading the whole row takes longer. */
const APPENDED_TO = `SELECT ref, epoch, length, sealed_seq AS sealedSeq, CAST(seal AS BLOB) AS seal,
    p.indexed, max(p.used, ${LAST_POSITION}) AS last
  FROM bobbin_conversations c JOIN bobbin_positions p WHERE c.id = ?`

interface AppendedTo extends Pick<ConversationRow, 'epoch' | 'length' | 'sealedSeq' | 'seal'> {
  readonly ref: number
  /** The last position that was given, also to an entry that was deleted. */
  readonly last: number
  /** The last position that the search indexes have. */
  readonly indexed: number
}

interface Located {
  readonly ref: number
  readonly row: ConversationRow
}

/** The store's tables in a SQLite file. */
export function sqliteDriver(connection: SqliteConnection, files: DeltaFiles): StoreDriver {
  const { read, write } = connection
  return {
    durable: true,
    close: connection.close,
    feed: sqliteFeed(connection, files),

    acquire: (request) =>
      write('take a conversation', (sqlite) => {
        const { conversation, owner, now, until, force, newKey } = request
        const known = locate(sqlite, conversation)
        if (known === undefined) {
          const { key, keyCheck } = newKey()
          sqlite.run(
            `INSERT INTO bobbin_conversations (id, created_at, updated_at, epoch, owner, lease_until,
                length, sealed_seq, seal, key, key_check) VALUES (?, ?, ?, 1, ?, ?, 0, 0, '', ?, ?)`,
            [conversation, now, now, owner, until, key, keyCheck],
          )
        } else if (force || known.row.leaseUntil <= now) {
          sqlite.run(
            'UPDATE bobbin_conversations SET epoch = epoch + 1, owner = ?, lease_until = ? WHERE ref = ?',
            [owner, until, known.ref],
          )
        } else return { granted: false, created: false, row: known.row }
        const { row } = locate(sqlite, conversation) as Located
        return { granted: true, created: known === undefined, row }
      }),

    extend: (conversation, epoch, until) =>
      write('prolong a lease', (sqlite) => {
        const sql = 'UPDATE bobbin_conversations SET lease_until = ? WHERE id = ? AND epoch = ?'
        sqlite.run(sql, [until, conversation, epoch])
        return locate(sqlite, conversation)?.row
      }),

    append: (conversation, epoch, plan) =>
      write('append entries', (sqlite) => {
        const found = sqlite.get(APPENDED_TO, [conversation]) as AppendedTo | undefined
        if (found === undefined) return { status: 'missing' } as const
        const known = { ...found, seal: textOf(found.seal) }
        const { ref } = known
        if (known.epoch !== epoch) return { status: 'stale', current: known.epoch } as const
        const shown = plan.gates.flatMap((id) =>
          rowsOf(sqlite.all(`${GATE} WHERE c.ref = ? AND g.id = ?`, [ref, id]), gateRow),
        )
        const gates = new Map(shown.map((gate) => [gate.id, gate]))
        const unsealed = plan.seals ? digestsAfter(sqlite, ref, known.sealedSeq) : []
        const whole = () => (locate(sqlite, conversation) as Located).row
        const grants = grantsIn(sqlite, plan.grants)
        const batch = plan.prepare({ row: known, whole, gates, grants, unsealed })
        insert(sqlite, known, batch, plan.blobs)
        return { status: 'done', seq: known.length + 1 } as const
      }).catch((error: unknown) => {
        if (isDuplicate(error)) return { status: 'duplicate' } as const
        throw error
      }),

    texts: (conversation, from, limit) =>
      read('read entries', (sqlite) => {
        return rowsOf(sqlite.all(logFrom(TEXT_FIELDS), [conversation, from, limit]), entryText)
      }),

    rows: (conversation, from, limit) =>
      read('read entries', (sqlite) => {
        return rowsOf(sqlite.all(logFrom(ENTRY_FIELDS), [conversation, from, limit]), entryRow)
      }),

    text: (conversation, kind, id) =>
      read('read an entry', (sqlite) => {
        const sql = `SELECT ${TEXT_FIELDS} FROM bobbin_entries WHERE conversation = ${REF} AND kind = ? AND id = ?`
        const row = sqlite.get(sql, [conversation, kind, id])
        return row && entryText(row)
      }),

    find: (filter, page) => read('search entries', (sqlite) => findEntries(sqlite, filter, page)),

    count: (filter) => read('count entries', (sqlite) => countEntries(sqlite, filter)),

    conversation: (id) => read('read a conversation', (sqlite) => locate(sqlite, id)?.row),

    conversations: (listing) =>
      read('list conversations', (sqlite) => {
        const { rest, values } = sqlListing(listing, DIALECT)
        const sql = `SELECT ${CONVERSATION_FIELDS} FROM bobbin_conversations c ${rest}`
        return rowsOf(sqlite.all(sql, values), conversationRow)
      }),

    setMeta: (conversation, change) =>
      write('set metadata', (sqlite) => {
        const known = locate(sqlite, conversation)
        if (known === undefined) return undefined
        const { meta, columns } = change(known.row.meta)
        sqlite.run('UPDATE bobbin_conversations SET meta = ? WHERE ref = ?', [meta, known.ref])
        sqlite.run('DELETE FROM bobbin_meta WHERE conversation = ?', [known.ref])
        for (const { name, value } of columns) {
          const sql = 'INSERT INTO bobbin_meta (conversation, name, value) VALUES (?, ?, ?)'
          sqlite.run(sql, [known.ref, name, value])
        }
        return { ...known.row, meta }
      }),

    gate: (conversation, id) =>
      read('read a gate', (sqlite) => {
        const sql = `${GATE} WHERE c.id = ? AND g.id = ?`
        const row = sqlite.get(sql, [conversation, id])
        return row && gateRow(row)
      }),

    gates: ({ conversation, open, after, limit }) =>
      read('list gates', (sqlite) => {
        const where = [open ? OPEN_GATE : '1']
        const values: string[] = []
        if (conversation !== undefined) {
          where.push('c.id = ?')
          values.push(conversation)
        }
        if (after !== undefined) {
          where.push(`e.position > ${OPENED_AT}`)
          values.push(after.conversation, after.id)
        }
        const sql = `${GATE} ${OPENING} WHERE ${where.join(' AND ')} ORDER BY e.position LIMIT ?`
        return rowsOf(sqlite.all(sql, [...values, limit]), gateRow)
      }),

    replaceGate: (gate, expected, grant) =>
      write('change a gate', (sqlite) => {
        const { conversation, id, state, digest, body } = gate
        const { changes } = sqlite.run(
          `UPDATE bobbin_gates SET state = ?, digest = ?, body = ? WHERE conversation = ${REF} AND id = ? AND digest = ?`,
          [state, digest, body, conversation, id, expected],
        )
        if (changes === 1 && grant !== undefined) addGrant(sqlite, grant)
        return changes === 1
      }),

    ...sqliteGrants(connection),

    blob: (digest) =>
      read('read a blob', (sqlite) => {
        const row = sqlite.get('SELECT bytes FROM bobbin_blobs WHERE digest = ?', [digest])
        return row && bytesOf(row['bytes'])
      }),

    references: (conversation, after, limit) =>
      read('list references', (sqlite) => {
        const inOne = conversation === undefined ? [] : [conversation]
        const where = conversation === undefined ? '' : `conversation = ${REF} AND`
        const sql = `SELECT DISTINCT CAST(r.digest AS BLOB) AS digest FROM bobbin_references r WHERE ${where} r.digest > ? ORDER BY r.digest LIMIT ?`
        return rowsOf(sqlite.all(sql, [...inOne, after, limit]), digestOf)
      }),

    fork: (plan) =>
      write('fork a conversation', (sqlite) => insertFork(sqlite, plan, LAST_POSITION)),

    inherited: (fork) =>
      read('list conversations', (sqlite) => {
        const sql = `SELECT ${asBytes('nested')} FROM bobbin_inherited WHERE conversation = ${REF}`
        return rowsOf(sqlite.all(sql, [fork]), ({ nested }) => textOf(nested))
      }),

    isInherited: (conversation, except) =>
      read('look for forks', (sqlite) => {
        const sql = `SELECT 1 FROM bobbin_inherited WHERE nested = ? AND conversation IS NOT ${REF} LIMIT 1`
        return sqlite.get(sql, [conversation, except]) !== undefined
      }),

    delete: (conversation) =>
      write('delete a conversation', (sqlite) => {
        const known = locate(sqlite, conversation)
        if (known === undefined) return false
        sqlite.run(
          `DELETE FROM bobbin_blobs WHERE digest IN (
              SELECT digest FROM bobbin_references r WHERE r.conversation = ? AND NOT EXISTS (
                SELECT 1 FROM bobbin_references o WHERE o.digest = r.digest AND o.conversation <> ?))`,
          [known.ref, known.ref],
        )
        sqlite.run(`UPDATE bobbin_positions SET used = max(used, ${LAST_POSITION})`)
        sqlite.run('DELETE FROM bobbin_conversations WHERE ref = ?', [known.ref])
        return true
      }),
  }
}

function locate(sqlite: Sqlite, conversation: string): Located | undefined {
  const row = sqlite.get(
    `SELECT ${CONVERSATION_FIELDS} FROM bobbin_conversations c WHERE c.id = ?`,
    [conversation],
  )
  return row && { ref: Number(row['ref']), row: conversationRow(row) }
}

function digestsAfter(sqlite: Sqlite, ref: number, seq: number): string[] {
  const sql = `SELECT ${asBytes('digest')} FROM bobbin_entries WHERE conversation = ? AND seq > ? ORDER BY seq`
  return rowsOf(sqlite.all(sql, [ref, seq]), digestOf)
}

const rowsOf = <Row>(rows: readonly unknown[], read: (row: SqliteRow) => Row): Row[] =>
  (rows as readonly SqliteRow[]).map(read)

const digestOf = ({ digest }: SqliteRow): string => textOf(digest)

function insert(
  sqlite: Sqlite,
  known: AppendedTo,
  batch: AppendBatch,
  blobs: readonly BlobRow[],
): void {
  const { ref } = known
  let position = known.last
  for (const entry of batch.entries) {
    sqlite.run(ADD_ENTRY, [++position, ref, ...entryValues(entry)])
  }
  indexEntries(sqlite, known.indexed, position)
  for (const { id, state, digest, body } of batch.gates) {
    sqlite.run(
      'INSERT OR REPLACE INTO bobbin_gates (conversation, id, state, digest, body) VALUES (?, ?, ?, ?, ?)',
      [ref, id, state, digest, body],
    )
  }
  for (const grant of batch.grants) changeGrant(sqlite, grant)
  for (const { digest, bytes } of blobs) {
    sqlite.run('INSERT OR IGNORE INTO bobbin_blobs (digest, bytes) VALUES (?, ?)', [digest, bytes])
  }
  for (const digest of batch.references) {
    const sql = 'INSERT OR IGNORE INTO bobbin_references (conversation, digest) VALUES (?, ?)'
    sqlite.run(sql, [ref, digest])
  }
  const { updatedAt, sealedSeq, seal } = batch
  const length = known.length + batch.entries.length
  if (sealedSeq === known.sealedSeq) {
    const sql = 'UPDATE bobbin_conversations SET length = ?, updated_at = ? WHERE ref = ?'
    sqlite.run(sql, [length, updatedAt, ref])
  } else {
    sqlite.run(
      'UPDATE bobbin_conversations SET length = ?, updated_at = ?, sealed_seq = ?, seal = ? WHERE ref = ?',
      [length, updatedAt, sealedSeq, seal, ref],
    )
  }
  if (batch.parent !== undefined) {
    sqlite.run('UPDATE bobbin_conversations SET parent = ? WHERE ref = ?', [batch.parent, ref])
  }
  if (batch.agent !== undefined) {
    sqlite.run('UPDATE bobbin_conversations SET agent = ? WHERE ref = ?', [batch.agent, ref])
  }
}
