import { expect } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { requestOf } from '../../src/wire/index.ts'
import { live } from './lived.ts'

/** Plays a conversation and holds it to what compaction promises. `step`: every so many requests are proven. */
export async function judgeLife(
  api: string,
  turns: number,
  open: () => Store | Promise<Store>,
  step: number,
): Promise<void> {
  const { requests, violations, lost, failed } = await live(api, turns, open)
  expect({ violations, lost, failed }).toEqual({ violations: [], lost: [], failed: [] })
  const store = await open()
  const calls: string[] = []
  const covered: number[] = []
  const causes = new Set<string>()
  for await (const { kind, data } of store.entries('c')) {
    if (kind === 'summary') covered.push(data.upTo)
    if (kind !== 'model-call') continue
    calls.push(data.id)
    for (const cause of data.prefix?.broken?.causes ?? []) causes.add(cause)
    expect(data.prefix?.broken?.causes).not.toEqual([])
  }
  expect(calls).toHaveLength(requests.length)
  // At least one turn of two stays as it is from one summary to the next.
  expect(covered.length).toBeGreaterThan(turns / 20)
  expect(covered.length).toBeLessThan(turns / 2)
  expect(covered).toEqual([...covered].sort((a, b) => a - b))
  expect([...causes]).toContain('compaction')
  for (let at = 0; at < calls.length; at += step) {
    const query = { conversation: 'c', modelCall: calls[at] ?? '' }
    expect(await requestOf(store, query)).toMatchObject({ proven: true, missing: [] })
  }
  expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: true, faults: [] })
  expect(await questions(store)).toBe(turns)
}

/** How many questions people still see. */
async function questions(store: Store): Promise<number> {
  let count = 0
  for (let before: string | undefined; ; ) {
    const query = { conversation: 'c', limit: 500, ...(before !== undefined && { before }) }
    const page = await store.history(query)
    count += page.items.filter((item) => 'role' in item && item.role === 'user').length
    if (page.before === undefined) return count
    before = page.before
  }
}
