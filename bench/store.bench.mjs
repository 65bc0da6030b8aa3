// The store on SQLite. The limit is what the same binding needs for the bare statements, with the same
// settings: WAL, every commit synced.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { checksum } from '../dist/index.js'
import { sqliteStore } from '../dist/stores/sqlite/index.js'
import { printTable, target } from './measure.mjs'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'))
const AT = '2026-01-02T03:04:05.000Z'

/** What the store itself would open, so that both sides use the same SQLite. */
function openBare(path) {
  const native = process.getBuiltinModule?.('node:sqlite')
  const require = createRequire(new URL('../package.json', import.meta.url))
  const Database = native?.DatabaseSync ?? require('libsql')
  const database = new Database(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const spread = native !== undefined
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      const bind = (values) => (spread ? values : [values])
      return {
        run: (...values) => statement.run(...bind(values)),
        get: (...values) => statement.get(...bind(values)),
        all: (...values) => statement.all(...bind(values)),
      }
    },
  }
}

const argsOf = (i) => ({ service: 'checkout', pattern: 'timeout|refused', limit: i % 500 })

function intent(turnId, id, args) {
  const data = {
    id,
    tool: 'read_log',
    args,
    checksum: checksum('read_log', args),
    effect: 'write',
    idempotencyKey: `key-${id}`,
    createdAt: AT,
  }
  return { kind: 'intent', turnId, data }
}

function settlement(turnId, id, args) {
  const data = {
    id,
    tool: 'read_log',
    args,
    checksum: checksum('read_log', args),
    results: 'checkout: 3 timeouts between 12:00 and 12:05, all from the payment gateway',
    isComplete: true,
    isError: false,
    settlement: 'ok',
    executedBy: 'runner',
    inline: true,
    fromArtifactTool: false,
    trust: 'third-party',
    createdAt: AT,
    updatedAt: AT,
    completedAt: AT,
  }
  return { kind: 'settlement', turnId, data }
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)]
}

const ms = (value) => `${value.toFixed(3)} ms`

/** One call: two commits. Interleaved, because the disk has moods. */
async function measureCalls() {
  const store = sqliteStore(join(folder, 'calls.db'))
  const { epoch } = await store.acquire('c', { owner: 'bench', leaseMs: 3_600_000 })
  const bare = openBare(join(folder, 'bare.db'))
  bare.exec('CREATE TABLE records (id TEXT, body TEXT)')
  const insert = bare.prepare('INSERT INTO records VALUES (?, ?)')
  const times = { bare: [], bobbin: [], ratios: [] }
  for (let i = 0; i < 600; i++) {
    const args = argsOf(i)
    const [first, second] = [intent('t', `c${i}`, args), settlement('t', `c${i}`, args)]
    const bareStart = performance.now()
    insert.run(first.data.id, JSON.stringify(first))
    insert.run(second.data.id, JSON.stringify(second))
    const start = performance.now()
    await store.append('c', epoch, [first])
    await store.append('c', epoch, [second])
    const end = performance.now()
    if (i < 100) continue
    times.bare.push(start - bareStart)
    times.bobbin.push(end - start)
    times.ratios.push((end - start) / (start - bareStart))
  }
  await store.close()
  const p50 = { bare: percentile(times.bare, 0.5), bobbin: percentile(times.bobbin, 0.5) }
  printTable([
    ['intent and settlement, each synced', 'p50', 'p95'],
    ['two bare inserts', ms(p50.bare), ms(percentile(times.bare, 0.95))],
    ['bobbin', ms(p50.bobbin), ms(percentile(times.bobbin, 0.95))],
  ])
  const ratio = percentile(times.ratios, 0.5)
  target(
    'durable overhead of a call',
    ratio <= 2.5,
    `${ratio.toFixed(2)} times the bare inserts (2.5)`,
  )
  const share = `of which two bare inserts on this disk take ${ms(p50.bare)}`
  target('durable call', p50.bobbin <= 1, `${ms(p50.bobbin)} p50 (1 ms), ${share}`)
}

async function measureReading() {
  const path = join(folder, 'reading.db')
  const store = sqliteStore(path)
  const { epoch } = await store.acquire('c', { owner: 'bench', leaseMs: 3_600_000 })
  const entries = Array.from({ length: 1000 }, (_, i) => {
    const args = argsOf(i)
    return [intent('t', `c${i}`, args), settlement('t', `c${i}`, args)]
  })
  await store.append('c', epoch, entries.flat())
  const select = openBare(path).prepare('SELECT body FROM bobbin_entries ORDER BY seq')
  const ratios = []
  const times = []
  for (let round = 0; round < 40; round++) {
    const bareStart = performance.now()
    const parsed = select.all().map(({ body }) => JSON.parse(body))
    const start = performance.now()
    const read = []
    for await (const entry of store.entries('c')) read.push(entry)
    const end = performance.now()
    if (parsed.length !== read.length) throw new Error('not everything was read')
    if (round < 10) continue
    ratios.push((end - start) / (start - bareStart))
    times.push(end - start)
  }
  await store.close()
  const ratio = percentile(ratios, 0.5)
  const detail = `${ratio.toFixed(2)} times select and JSON.parse (3), ${ms(percentile(times, 0.5))}`
  target('reading back a conversation of 1,000 calls', ratio <= 3, detail)
}

async function measureLookup() {
  const store = sqliteStore(join(folder, 'lookup.db'))
  const { epoch } = await store.acquire('c', { owner: 'bench', leaseMs: 3_600_000 })
  const TOTAL = 100_000
  for (let at = 0; at < TOTAL; at += 1000) {
    const batch = Array.from({ length: 1000 }, (_, i) =>
      settlement('t', `c${at + i}`, { ...argsOf(at + i), n: (at + i) % 20_000 }),
    )
    await store.append('c', epoch, batch)
  }
  const lookups = []
  const counts = []
  for (let i = 0; i < 1000; i++) {
    const n = randomBytes(4).readUInt32LE() % TOTAL
    const start = performance.now()
    const entry = await store.get('c', 'settlement', `c${n}`)
    const middle = performance.now()
    const sum = entry?.data.checksum
    const count = await store.count({ conversation: 'c', kind: 'settlement', checksum: sum })
    const end = performance.now()
    if (count !== 5) throw new Error(`counted ${count}`)
    if (i < 100) continue
    lookups.push(middle - start)
    counts.push(end - middle)
  }
  await store.close()
  const [byId, byChecksum] = [percentile(lookups, 0.5), percentile(counts, 0.5)]
  target('lookup by id among 100,000 records', byId < 1, `${ms(byId)} p50 (1 ms)`)
  target('count by checksum among 100,000 records', byChecksum < 1, `${ms(byChecksum)} p50 (1 ms)`)
}

async function measureThroughput() {
  const store = sqliteStore(join(folder, 'throughput.db'))
  const CONVERSATIONS = 1000
  const start = performance.now()
  await Promise.all(
    Array.from({ length: CONVERSATIONS }, async (_, i) => {
      const name = `conversation ${i}`
      const { epoch } = await store.acquire(name, { owner: 'bench', leaseMs: 3_600_000 })
      const args = argsOf(i)
      await store.append(name, epoch, [intent('t', 'c', args)])
      await store.append(name, epoch, [settlement('t', 'c', args)])
      await store.append(name, epoch, [
        { kind: 'turn-end', turnId: 't', data: { status: 'completed' } },
      ])
    }),
  )
  const seconds = (performance.now() - start) / 1000
  await store.close()
  const calls = Math.round(CONVERSATIONS / seconds)
  console.log(`info  1,000 conversations of one call each, at once: ${calls} turns per second`)
}

try {
  await measureCalls()
  await measureReading()
  await measureLookup()
  await measureThroughput()
} finally {
  rmSync(folder, { recursive: true })
}
