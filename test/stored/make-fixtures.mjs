// @ts-nocheck
// Wrote the files in `5640646/`. It was run once, at that commit, and is kept to show how the files were made: what
// is stored must never be written again by later code. Clock, ids and keys are fixed, so that both databases hold the
// same entries; the database and the exports are compressed because they repeat themselves. Types are not checked
// here: the code moves on, and this does not. Node 20 runs no TypeScript, so it was bundled first:
//
//   npx esbuild test/stored/make-fixtures.mjs --bundle --format=esm --platform=node --packages=external \
//     --alias:#hash=./src/core/hash.node.ts --outfile=.cache/make-fixtures.mjs
//   node .cache/make-fixtures.mjs test/stored/5640646
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'libsql'
import postgres from 'postgres'
import { memoryStore, redactKeys } from '../../src/index.ts'
import { fileSpool } from '../../src/stores/fs/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { embeddedServer } from '../postgres/embedded-server.ts'
import { dumpSchema } from './dump-schema.mjs'
import { playConversations, SECRET } from './play-conversations.mjs'
import { contentOf, importedContentOf } from './stored-content.ts'

const folder = process.argv[2]
mkdirSync(folder, { recursive: true })

/** What every store is opened with: nothing of it depends on when or where this runs. */
function fixedOptions() {
  let now = Date.UTC(2026, 0, 2, 12)
  const clock = {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
  const randomBytes = (length) => new Uint8Array(length).fill(1)
  return { clock, randomBytes, redact: redactKeys(/password/i) }
}

const options = fixedOptions()
const sqlite = sqliteStore(join(folder, 'store.db'), options)
await playConversations(sqlite, options.clock)
const stored = await contentOf(sqlite)

mkdirSync(join(folder, 'exports'))
const imported = memoryStore(fixedOptions())
for (const { id } of stored.conversations) {
  const lines = []
  for await (const line of sqlite.export(id)) lines.push(line)
  const file = join(folder, 'exports', `${id.replace('/', '.')}.jsonl.gz`)
  writeFileSync(file, gzipSync(`${lines.join('\n')}\n`))
  await imported.import(lines)
}
await sqlite.close()
const path = join(folder, 'store.db')
const database = new Database(path)
database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
database.close()
writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })

const keys = {
  'own-key': createHmac('sha256', SECRET).update('bobbin/conversation/1\nown-key').digest('hex'),
}
const expected = {
  // Leases are over by then, and gates still open.
  readAt: options.clock.now() + 3_600_000,
  secret: Buffer.from(SECRET).toString('hex'),
  keys,
  stored,
  imported: await importedContentOf(imported),
}
writeFileSync(join(folder, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`)

const server = await embeddedServer()
const spoolFolder = mkdtempSync(join(tmpdir(), 'bobbin-stored-'))
try {
  const again = fixedOptions()
  const spool = fileSpool(spoolFolder, { clock: again.clock })
  const store = postgresStore({ ...again, url: server.url, schema: 'stored', spool })
  await playConversations(store, again.clock)
  // One summary and one spool serve both.
  assert.deepEqual(await contentOf(store), stored)
  const files = (of) => new Set(readdirSync(of, { recursive: true }))
  assert.deepEqual(files(spoolFolder), files(join(folder, 'store.db.spool')))
  await store.close()
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined })
  writeFileSync(join(folder, 'postgres.sql'), await dumpSchema(sql, 'stored'))
  await sql.end()
} finally {
  await server.remove()
  rmSync(spoolFolder, { recursive: true })
}
// The processes that died still wait for their stores.
process.exit(0)
