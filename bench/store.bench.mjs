// The store on SQLite. The limit is what the same binding needs for the bare statements, with the same
// settings: WAL, every commit synced.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { sqliteStore } from '../dist/stores/sqlite/index.js'
import { percentile, target } from './measure.mjs'
import { argsOf, intent, settlement } from './store/entries.mjs'
import { openBare } from './store/open-bare.mjs'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'))

const ms = (value) => `${value.toFixed(3)} ms`

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
  await measureReading()
  await measureLookup()
  await measureThroughput()
} finally {
  rmSync(folder, { recursive: true })
}
