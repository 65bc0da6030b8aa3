import type { FeedDriver, QueuedRow } from '../../store/feed-driver.ts'
import { type DeltaFiles, tailFile } from './delta-file.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

const REF = '(SELECT ref FROM bobbin_conversations WHERE id = ?)'

/** Requests in tables, and what streams in a file beside the database that is never synced. */
export function sqliteFeed({ read, write }: SqliteConnection, files: DeltaFiles): FeedDriver {
  return {
    announce: (conversation, follower, until) =>
      write('announce a reader', (sqlite) => {
        sqlite.run(`DELETE FROM bobbin_followers WHERE conversation = ${REF} AND id = ?`, [
          conversation,
          follower,
        ])
        if (until === 0) return
        sqlite.run(
          'INSERT INTO bobbin_followers SELECT ref, ?, ? FROM bobbin_conversations WHERE id = ?',
          [follower, until, conversation],
        )
      }),

    requests: (conversation, now) =>
      read('read requests', (sqlite) => {
        const followers = sqlite.all(
          `SELECT id FROM bobbin_followers WHERE conversation = ${REF} AND until > ?`,
          [conversation, now],
        ) as { id: string }[]
        const stops = sqlite.all(`SELECT turn FROM bobbin_stops WHERE conversation = ${REF}`, [
          conversation,
        ]) as { turn: string }[]
        const queued = sqlite.all(
          `SELECT turn AS turnId, mode, body, until FROM bobbin_queue WHERE conversation = ${REF} ORDER BY position`,
          [conversation],
        ) as QueuedRow[]
        return {
          followers: followers.map(({ id }) => id),
          stops: stops.map(({ turn }) => turn),
          queued: queued.map((row) => ({ ...row })),
        }
      }),

    stop: (conversation, turnId) =>
      write('ask for a stop', (sqlite) => {
        sqlite.run(
          'INSERT OR IGNORE INTO bobbin_stops SELECT ref, ? FROM bobbin_conversations WHERE id = ?',
          [turnId, conversation],
        )
      }),

    unstop: (conversation, turnId) =>
      write('forget a stop', (sqlite) => {
        sqlite.run(`DELETE FROM bobbin_stops WHERE conversation = ${REF} AND turn = ?`, [
          conversation,
          turnId,
        ])
      }),

    enqueue: (conversation, { turnId, mode, body, until }, most) =>
      write('queue a message', (sqlite) => {
        const { changes } = sqlite.run(
          `UPDATE bobbin_queue SET mode = ?, until = ? WHERE conversation = ${REF} AND turn = ?`,
          [mode, until, conversation, turnId],
        )
        if (changes > 0) return true
        const row = sqlite.get(
          `SELECT count(*) AS n FROM bobbin_queue WHERE conversation = ${REF}`,
          [conversation],
        )
        if (Number(row?.['n']) >= most) return false
        sqlite.run(
          `INSERT INTO bobbin_queue (conversation, turn, mode, body, until)
            SELECT ref, ?, ?, ?, ? FROM bobbin_conversations WHERE id = ?`,
          [turnId, mode, body, until, conversation],
        )
        return true
      }),

    dequeue: (conversation, turnId) =>
      write('take a queued message', (sqlite) => {
        const sql = `DELETE FROM bobbin_queue WHERE conversation = ${REF} AND turn = ?`
        return sqlite.run(sql, [conversation, turnId]).changes > 0
      }),

    send: (conversation, _epoch, batch) => files.append(conversation, batch),
    tail: async (conversation, onBatch) => tailFile(files.pathOf(conversation), onBatch),
    async clear(conversation, epoch) {
      const row = await read('read a conversation', (sqlite) =>
        sqlite.get('SELECT epoch FROM bobbin_conversations WHERE id = ?', [conversation]),
      )
      // The file of a later holder stays.
      if (row === undefined || Number(row['epoch']) === epoch) await files.remove(conversation)
    },
  }
}
