// The other way to have lines at hand: a row each in SQLite.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import Database from 'libsql'

/** Lines per statement: a call from JavaScript costs more than the insertion of a row. */
const BATCH = 2_000

/** Calls `visit` with each line; events are several times faster here than iteration. */
export function eachLine(path, visit) {
  return new Promise((resolve, reject) => {
    const input = createReadStream(path, { highWaterMark: 1024 * 1024 }).on('error', reject)
    createInterface({ input }).on('line', visit).on('close', resolve)
  })
}

/** Writes the lines of `log` to a table in one transaction, without a journal, and gives what can be asked of it. */
export async function buildLineTable(path, log) {
  await rm(path, { force: true })
  const database = new Database(path)
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536')
  database.exec('CREATE TABLE line (number INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO line SELECT key + ?, value FROM json_each(?)')
  let number = 0
  let batch = []
  const flush = () => {
    insert.run(number, JSON.stringify(batch))
    number += batch.length
    batch = []
  }
  database.exec('BEGIN')
  await eachLine(log, (line) => {
    if (batch.push(line) === BATCH) flush()
  })
  flush()
  database.exec('COMMIT')
  const find = database.prepare('SELECT count(*) AS lines FROM line WHERE instr(text, ?) > 0')
  const show = database.prepare('SELECT text FROM line WHERE number = ?')
  return {
    rows: number,
    count: (literal) => find.get(literal).lines,
    line: (wanted) => show.get(wanted).text,
    close: () => database.close(),
  }
}
