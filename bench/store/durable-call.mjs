import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'
import { percentile } from '../measure.mjs'
import { argsOf, intent, settlement } from './entries.mjs'
import { openBare } from './open-bare.mjs'

const CALLS = 6_000
/** Until then, a growing log file takes most of the time of both. */
const WARM_UP = 2_000

const ms = (value) => `${value.toFixed(3)} ms`

/** Bytes that this process has written; only Linux tells. */
function writtenBytes() {
  try {
    return Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
  } catch {
    return Number.NaN
  }
}

/**
 * One call, two commits, each synced, beside two bare inserts of the same bytes with the same settings. Interleaved,
 * because the disk has moods.
 */
export async function durableCall(folder) {
  const store = sqliteStore(join(folder, 'calls.db'))
  const { epoch } = await store.acquire('c', { owner: 'bench', leaseMs: 3_600_000 })
  const bare = openBare(join(folder, 'bare.db'))
  bare.exec('CREATE TABLE records (id TEXT, body TEXT)')
  const insert = bare.prepare('INSERT INTO records VALUES (?, ?)')
  const times = { bare: [], bobbin: [], ratios: [] }
  const bytes = { bare: 0, bobbin: 0 }
  for (let i = 0; i < CALLS; i++) {
    const [args, id, turn] = [argsOf(i), randomUUID(), `turn ${i >> 3}`]
    const [first, second] = [intent(turn, id, args), settlement(turn, id, args)]
    const [before, bareStart] = [writtenBytes(), performance.now()]
    insert.run(first.data.id, JSON.stringify(first))
    insert.run(second.data.id, JSON.stringify(second))
    const bareMs = performance.now() - bareStart
    const [between, start] = [writtenBytes(), performance.now()]
    await store.append('c', epoch, [first])
    await store.append('c', epoch, [second])
    const bobbinMs = performance.now() - start
    bytes.bare += between - before
    bytes.bobbin += writtenBytes() - between
    if (i < WARM_UP) continue
    times.bare.push(bareMs)
    times.bobbin.push(bobbinMs)
    times.ratios.push(bobbinMs / bareMs)
  }
  await store.close()
  bare.close()
  const row = (name, each) => {
    const cells = [0.5, 0.95].map((share) => ms(percentile(times[each], share)))
    const mean = times[each].reduce((sum, time) => sum + time, 0) / times[each].length
    const kb = Number.isNaN(bytes[each]) ? '' : (bytes[each] / CALLS / 1024).toFixed(1)
    return [name, ...cells, ms(mean), kb]
  }
  const table = [
    ['intent and settlement, each synced', 'p50', 'p95', 'mean', 'KB written'],
    row('two bare inserts', 'bare'),
    row('bobbin', 'bobbin'),
  ]
  return { table, ratio: percentile(times.ratios, 0.5), p50: percentile(times.bobbin, 0.5) }
}
