import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import { columnsOf } from '../terminal/columns.ts'
import type { Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { writeJson } from '../terminal/write-json.ts'
import { callLines } from './call-lines.ts'
import type { CallsValues } from './calls-options.ts'
import { callFilter } from './list-calls.ts'

const POLL_MS = 250

/** Writes calls as they settle, in any process, until it is interrupted. */
export async function followCalls(
  store: Store,
  values: CallsValues,
  _rest: readonly string[],
  io: Io,
): Promise<void> {
  const line = callLines(paintFor(io), columnsOf(io))
  const filter = { ...(await callFilter(store, values)), since: Date.now() }
  let told = new Set<string>()
  while (!io.signal.aborted) {
    const page = await store.find({ ...filter, kind: 'settlement', limit: 1000 })
    const before = told
    told = new Set()
    for (const { conversation, entry } of page.entries) {
      const key = `${conversation} ${entry.seq}`
      told.add(key)
      if (entry.kind !== 'settlement' || before.has(key)) continue
      if (values.json === true) writeJson(io, { conversation, ...entry.data })
      else for (const each of line({ conversation, entry })) io.stdout.write(`${each}\n`)
    }
    // A full page moves the window on, so that it never costs more than a page, nor holds more.
    const last = page.entries.at(-1)
    if (page.next !== undefined && last !== undefined) filter.since = last.entry.time
    await sleep(POLL_MS, undefined, { signal: io.signal }).catch(() => {})
  }
}
