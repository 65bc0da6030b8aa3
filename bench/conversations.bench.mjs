// Long conversations: what it takes to come back to one or to fork it, and what a durable call costs. Each reopening is a process of
// its own that ends after one turn. `LARGE=1` adds 100,000 calls.
import { fork, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fill, resultOf } from './conversations/fill.mjs'
import { openStore } from './conversations/open-store.mjs'
import { median, printTable, target } from './measure.mjs'
import { ensurePeers } from './peers/ensure.mjs'
import { startServer } from './postgres-server.mjs'
import { durableCall } from './store/durable-call.mjs'

const SIZES = [100, 1_000, 10_000, ...(process.env.LARGE ? [100_000] : [])]
const ROUNDS = 3
const BUDGET = { maxTokens: 20_000 }
const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'))
const SUBJECT = fileURLToPath(new URL('conversations/subject.mjs', import.meta.url))
/** How long one process may take. */
const LIMIT_MS = 300_000

/** Runs one turn in a process of its own. */
function reopened(kit, ...args) {
  const child = fork(SUBJECT, [kit, ...args], { execArgv: ['--expose-gc'], timeout: LIMIT_MS })
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code, signal) =>
      reject(new Error(`\`${kit}\` ended with ${code ?? signal}.`)),
    )
  })
}

/** The median of each figure over some rounds. */
async function figures(kit, ...args) {
  const found = []
  for (let round = 0; round < ROUNDS; round++) found.push(await reopened(kit, ...args))
  const names = Object.keys(found[0])
  return Object.fromEntries(names.map((name) => [name, median(found.map((one) => one[name]))]))
}

async function stored(where, calls, isCompacted) {
  const { store, close } = await openStore(where)
  await fill(store, calls, { isCompacted })
  await close()
}

const SETUPS = { 'no budget': {}, 'budget of 20,000 tokens': { budget: BUDGET } }
/** A row whose conversations have a summary of all but two turns. */
const COMPACTED = 'with a summary'

/** The databases that a conversation of `calls` calls lies in. */
const STORES = {
  SQLite: (calls, name) => `sqlite:${join(folder, `${name}${calls}.db`)}`,
  PostgreSQL: (calls, name, url) => `postgres:${name}${calls}:${url}`,
}

async function measureReopening(url) {
  const rows = {}
  for (const calls of SIZES) {
    for (const [name, whereOf] of Object.entries(STORES)) {
      const where = whereOf(calls, 'calls_', url)
      await stored(where, calls, false)
      for (const [how, setup] of Object.entries(SETUPS)) {
        // A turn adds three entries, and a budget stores what it left out: later rounds begin there.
        ;(rows[`${name}, ${how}`] ??= []).push(
          await figures('bobbin', where, JSON.stringify(setup)),
        )
      }
      const compacted = whereOf(calls, 'compacted_', url)
      await stored(compacted, calls, true)
      ;(rows[`${name}, ${COMPACTED}`] ??= []).push(await figures('bobbin', compacted, '{}'))
    }
  }
  const reason = missingPeer()
  if (reason !== undefined) console.log(`skip  LangGraph's SQLite checkpointer: ${reason}`)
  else {
    const { fill: fillPeer } = await import('./conversations/langgraph.mjs')
    for (const calls of SIZES) {
      const path = join(folder, `langgraph-${calls}.db`)
      await fillPeer(path, calls, resultOf)
      ;(rows['LangGraph, SQLite checkpointer'] ??= []).push(await figures('langgraph', path))
    }
  }
  for (const [what, name, digits] of [
    ['ms', 'ms', 0],
    ['ms of CPU', 'cpuMs', 0],
    ['MB held at the request', 'heldMb', 1],
    ['MB at the peak, the process included', 'peakMb', 0],
  ]) {
    console.log(`\nFrom \`run\` to the first request, by stored calls: ${what}\n`)
    const cells = (found) => found.map((one) => one[name].toFixed(digits))
    const heading = ['', ...SIZES.map((size) => size.toLocaleString('en'))]
    printTable([heading, ...Object.entries(rows).map(([row, found]) => [row, ...cells(found)])])
  }
  for (const [row, found] of Object.entries(rows)) {
    if (row.startsWith('LangGraph')) continue
    if (row.endsWith(COMPACTED)) {
      // The time on a disk that others use says less.
      const growth = found[2].cpuMs / found[0].cpuMs
      const what = `${row}: 10,000 calls take at most twice the CPU time of 100`
      target(what, growth <= 2, growth.toFixed(2))
      continue
    }
    const perCall = ((found[2].cpuMs - found[0].cpuMs) / (SIZES[2] - SIZES[0])) * 1000
    const what = `${row}: at most 200 µs of CPU a stored call`
    target(what, perCall <= 200, `${perCall.toFixed(0)} µs`)
  }
}

/** Why LangGraph's checkpointer cannot be compared. Its database is compiled where no binary can be fetched. */
function missingPeer() {
  ensurePeers()
  const cwd = fileURLToPath(new URL('peers/', import.meta.url))
  const works = () =>
    spawnSync(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:')"], { cwd })
  if (works().status === 0) return undefined
  const built = spawnSync('npm', ['rebuild', 'better-sqlite3'], {
    cwd,
    shell: process.platform === 'win32',
  })
  if (built.status === 0 && works().status === 0) return undefined
  return '`npm rebuild better-sqlite3` failed in bench/peers'
}

async function measureDurableCall() {
  const { table, ratio, p50 } = await durableCall(folder)
  console.log('')
  printTable(table)
  target('a durable call takes at most 1.5 times two bare inserts', ratio <= 1.5, ratio.toFixed(2))
  target('a durable call takes at most 1 ms', p50 <= 1, `${p50.toFixed(3)} ms`)
}

async function measureForking(url) {
  const calls = 10_000
  const rows = [[`Forking ${calls.toLocaleString('en')} calls`, 'ms', 'ms of CPU']]
  for (const [name, whereOf] of Object.entries(STORES)) {
    const { store, close } = await openStore(whereOf(calls, 'calls_', url))
    const [ms, cpuMs] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      const [cpu, start] = [process.cpuUsage(), performance.now()]
      const { id } = await store.fork('c')
      ms.push(performance.now() - start)
      const { user, system } = process.cpuUsage(cpu)
      cpuMs.push((user + system) / 1000)
      await store.delete(id)
    }
    await close()
    rows.push([name, median(ms).toFixed(0), median(cpuMs).toFixed(0)])
    if (name === 'SQLite') {
      const what = `forking ${calls.toLocaleString('en')} calls on SQLite takes at most 1.5 s`
      target(what, median(ms) <= 1500, `${median(ms).toFixed(0)} ms`)
    }
  }
  console.log('')
  printTable(rows)
}

const server = await startServer()
try {
  await measureReopening(server.url)
  await measureForking(server.url)
  await measureDurableCall()
} finally {
  await server.remove()
  rmSync(folder, { recursive: true })
}
