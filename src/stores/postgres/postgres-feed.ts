import type { FeedDriver, QueuedRow } from '../../store/feed-driver.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import type { Notifications } from './postgres-notifications.ts'
import type { PostgresRow } from './postgres-queries.ts'
import type { Tables } from './postgres-tables.ts'

/** PostgreSQL takes up to 8,000 bytes in a notification; a larger batch is read from its table. */
const MAX_NOTIFIED = 6000
/** How often a reader looks for batches that no notification brought. */
const LOOK_MS = 3000

/** Requests in tables; what streams in an unlogged table, and in notifications where it fits. */
export function postgresFeed(
  connection: PostgresConnection,
  tables: Tables,
  notifications: Notifications,
): FeedDriver {
  // Each is one statement, and harmless if it runs twice: no transaction is needed.
  const { read: once } = connection
  const { conversations, followers, stops, queue, deltas } = tables
  const REF = `(SELECT ref FROM ${conversations} WHERE id = $1)`

  const batchesAfter = (conversation: string, n: number) =>
    once('read what streams', (queries) =>
      queries.rows(
        `SELECT n, body FROM ${deltas} WHERE conversation = ${REF} AND n > $2 ORDER BY n`,
        [conversation, n],
      ),
    )

  return {
    async announce(conversation, follower, until) {
      const sql =
        until === 0
          ? `DELETE FROM ${followers} WHERE conversation = ${REF} AND id = $2 AND $3 = 0`
          : `INSERT INTO ${followers} (conversation, id, until) SELECT ref, $2, $3 FROM ${conversations} WHERE id = $1
              ON CONFLICT (conversation, id) DO UPDATE SET until = EXCLUDED.until`
      await once('announce a reader', (queries) =>
        queries.change(sql, [conversation, follower, until]),
      )
    },

    async requests(conversation, now) {
      const sql = `SELECT 'follower' AS what, id, '' AS mode, '' AS body, until, 0 AS position
          FROM ${followers} WHERE conversation = ${REF} AND until > $2
        UNION ALL SELECT 'stop', turn, '', '', 0, 0 FROM ${stops} WHERE conversation = ${REF}
        UNION ALL SELECT 'queued', turn, mode, body, until, position FROM ${queue} WHERE conversation = ${REF}
        ORDER BY position`
      const rows = await once('read requests', (queries) => queries.rows(sql, [conversation, now]))
      const of = (what: string) => rows.filter((row) => row['what'] === what)
      return {
        followers: of('follower').map((row) => String(row['id'])),
        stops: of('stop').map((row) => String(row['id'])),
        queued: of('queued').map(queuedRow),
      }
    },

    async stop(conversation, turnId) {
      const sql = `INSERT INTO ${stops} (conversation, turn) SELECT ref, $2 FROM ${conversations} WHERE id = $1
        ON CONFLICT DO NOTHING`
      await once('ask for a stop', (queries) => queries.change(sql, [conversation, turnId]))
    },

    async unstop(conversation, turnId) {
      const sql = `DELETE FROM ${stops} WHERE conversation = ${REF} AND turn = $2`
      await once('forget a stop', (queries) => queries.change(sql, [conversation, turnId]))
    },

    enqueue: (conversation, { turnId, mode, body, until }, most) =>
      connection.write('queue a message', async (queries) => {
        // One at a time, so that the count holds.
        await queries.rows(`SELECT ref FROM ${conversations} WHERE id = $1 FOR UPDATE`, [
          conversation,
        ])
        const known = `UPDATE ${queue} SET mode = $3, until = $4 WHERE conversation = ${REF} AND turn = $2`
        if ((await queries.change(known, [conversation, turnId, mode, until])) > 0) return true
        const added = `INSERT INTO ${queue} (conversation, turn, mode, body, until)
          SELECT c.ref, $2, $3, $4, $5 FROM ${conversations} c WHERE c.id = $1
            AND (SELECT count(*) FROM ${queue} q WHERE q.conversation = c.ref) < $6`
        return (await queries.change(added, [conversation, turnId, mode, body, until, most])) > 0
      }),

    async dequeue(conversation, turnId) {
      const sql = `DELETE FROM ${queue} WHERE conversation = ${REF} AND turn = $2`
      const change = once('take a queued message', (queries) =>
        queries.change(sql, [conversation, turnId]),
      )
      return (await change) > 0
    },

    async send(conversation, epoch, batch) {
      const sql = `WITH added AS (
          INSERT INTO ${deltas} (conversation, epoch, body) SELECT ref, $2, $3 FROM ${conversations} WHERE id = $1 RETURNING n
        ) SELECT pg_notify($4, json_build_object('c', $1::text, 'n', n, 'b', $5::text)::text) FROM added`
      const isSmall = Buffer.byteLength(batch) <= MAX_NOTIFIED
      const values = [conversation, epoch, batch, notifications.channel, isSmall ? batch : null]
      await once('send what streams', (queries) => queries.rows(sql, values))
    },

    async tail(conversation, onBatch) {
      let last = 0
      let reading = Promise.resolve()
      const give = (n: number, body: string) => {
        if (n <= last) return
        last = n
        onBatch(body)
      }
      const readOn = () => {
        reading = reading
          .then(async () => {
            for (const row of await batchesAfter(conversation, last)) {
              give(Number(row['n']), String(row['body']))
            }
          })
          .catch(() => undefined)
        return reading
      }
      const off = await notifications.on((payload) => {
        const { c, n, b } = notified(payload)
        if (c !== conversation || n === undefined) return
        // Rows of the table before this one come first.
        reading = reading.then(() => (b === undefined ? undefined : give(n, b)))
        if (b === undefined) void readOn()
      })
      const timer = setInterval(() => void readOn(), LOOK_MS)
      timer.unref()
      await readOn()
      return async () => {
        clearInterval(timer)
        off()
        await reading
      }
    },

    async clear(conversation, epoch) {
      const sql = `DELETE FROM ${deltas} WHERE conversation = ${REF} AND epoch <= $2`
      await once('forget what streamed', (queries) => queries.change(sql, [conversation, epoch]))
    },
  }
}

function queuedRow(row: PostgresRow): QueuedRow {
  const mode = row['mode'] === 'steer' ? 'steer' : 'queue'
  const { id, body, until } = row
  return { turnId: String(id), mode, body: String(body), until: Number(until) }
}

interface Notified {
  readonly c?: string
  readonly n?: number
  readonly b?: string
}

/** Anybody who may connect to the database can send a notification. */
function notified(payload: string): Notified {
  try {
    const { c, n, b } = Object(JSON.parse(payload)) as Record<string, unknown>
    return {
      ...(typeof c === 'string' && { c }),
      ...(typeof n === 'number' && { n }),
      ...(typeof b === 'string' && { b }),
    }
  } catch {
    return {}
  }
}
