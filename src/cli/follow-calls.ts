import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store/store.ts'
import type { CallsValues } from './calls-options.ts'
import type { Io } from './io.ts'
import { writeJson } from './json-view.ts'
import { callFilter, callLines } from './list-calls.ts'
import { paintFor } from './paint.ts'

const POLL_MS = 250

/** Writes calls as they settle, in whatever process, until it is interrupted. */
export async function followCalls(
  store: Store,
  values: CallsValues,
  _rest: readonly string[],
  io: Io,
): Promise<void> {
  const line = callLines(paintFor(io))
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
      else io.stdout.write(`${line({ conversation, entry })}\n`)
    }
    // A full page moves the window on, so that it never costs more than a page, nor holds more.
    const last = page.entries.at(-1)
    if (page.next !== undefined && last !== undefined) filter.since = last.entry.time
    await sleep(POLL_MS, undefined, { signal: io.signal }).catch(() => {})
  }
}
