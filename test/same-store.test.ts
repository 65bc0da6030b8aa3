import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isBobbinError } from '../src/core/error/error.ts'
import type { NewEntry } from '../src/store/entry.ts'
import type { Gate } from '../src/store/gate.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { ConversationInfo, ConversationQuery, EntryFilter, Store } from '../src/store/store.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { collected, findAll } from '../src/testing/store/store-check.ts'
import { storeSamples as sample } from '../src/testing/store/store-samples.ts'
import { type TestClock, testClock } from '../src/testing/store/test-clock.ts'
import { runs } from './runs.ts'

/** What is done to a store, under a name for whoever reads a counterexample. */
type Act = readonly [name: string, act: (store: Store, clock: TestClock) => unknown]

const NAMES = ['a', 'B', 'ab', '\uffee', '🧵', "it's"]
const name = fc.constantFrom(...NAMES)
const id = fc.constantFrom('1', '2', 'nul\0', 'back\\slash', '\ud800', '🧵', 'x'.repeat(400))
const turn = fc.constantFrom('t', 'u', 'T\0')
const epoch = fc.constantFrom(1, 1, 1, 2)
const tool = fc.constantFrom('add', 'Add', 'a\\d')

const entry: fc.Arbitrary<NewEntry> = fc.oneof(
  turn.map(sample.turnStart),
  turn.map(sample.turnEnd),
  turn.map((at) => sample.note(at, 'n')),
  fc.tuple(turn, id, tool).map(([at, call, of]) => sample.intent(at, call, { n: 1 }, of)),
  fc
    .record({ at: turn, call: id, settlement: fc.constantFrom('ok' as const, 'in-doubt' as const) })
    .map(({ at, call, settlement }) => sample.settlement(at, call, { settlement })),
  fc.tuple(turn, id).map(([at, gate]) => sample.gateOpened(at, gate)),
  fc.tuple(turn, id).map(([at, gate]) => sample.gateOpened(at, gate, { expiresAt: 5_000 })),
  fc
    .tuple(turn, id, fc.constantFrom('consumed' as const, 'expired' as const, 'abandoned' as const))
    .map(([at, gate, outcome]) => sample.gateClosed(at, gate, outcome)),
)

/** Clocks begin at 0, and wait for some seconds at a time. */
const time = fc.oneof(
  fc.double({ min: -1, max: 30_000, noNaN: true }),
  fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
)

const filter: fc.Arbitrary<EntryFilter> = fc.record(
  {
    conversation: name,
    turnId: turn,
    kind: fc.constantFrom('intent' as const, 'settlement' as const, 'gate-opened' as const),
    id,
    tool,
    settlement: fc.constantFrom('ok', 'in-doubt'),
    since: time,
    until: time,
  },
  { requiredKeys: [] },
)

const blob = fc.constantFrom('one', 'two', '').map((text) => new TextEncoder().encode(text))

const metaValue = fc.constantFrom(1, '1', 'nul\0', true, [1, { a: null }], { b: 2, a: '🧵' })

/** Every conversation that a query gives, one a page. */
async function listed(store: Store, query: ConversationQuery): Promise<ConversationInfo[]> {
  const found: ConversationInfo[] = []
  for (;;) {
    const last = found.at(-1)
    const [next] = await store.conversations({ ...query, limit: 1, ...(last && { after: last }) })
    if (next === undefined || found.length > 50) return found
    found.push(next)
  }
}

const change: fc.Arbitrary<Act> = fc.oneof(
  fc
    .tuple(name, fc.boolean(), fc.nat(9_000))
    .map(
      ([c, force, leaseMs]): Act => [
        `acquire ${c}`,
        (store) => store.acquire(c, { owner: `nul\0 ${c}`, force, leaseMs }),
      ],
    ),
  {
    weight: 5,
    arbitrary: fc
      .tuple(name, epoch, fc.array(entry, { maxLength: 4 }), fc.array(blob, { maxLength: 2 }))
      .map(
        ([c, at, entries, blobs]): Act => [
          `append ${c} ${at} ${JSON.stringify(entries)}`,
          (store) => store.append(c, at, entries, blobs),
        ],
      ),
  },
  fc.tuple(name, epoch).map(([c, at]): Act => [`renew ${c}`, (store) => store.renew(c, at, 900)]),
  fc.tuple(name, epoch).map(([c, at]): Act => [`release ${c}`, (store) => store.release(c, at)]),
  fc
    .tuple(name, id)
    .map(
      ([c, gate]): Act => [
        `decide ${c} ${gate}`,
        (store) => store.decideGate(c, gate, { verdict: 'approved', decidedBy: 'ada' }),
      ],
    ),
  name.map((c): Act => [`delete ${c}`, (store) => store.delete(c)]),
  fc
    .tuple(name, fc.record({ kind: fc.option(metaValue), size: metaValue }, { requiredKeys: [] }))
    .map(([c, patch]): Act => [`setMeta ${c}`, (store) => store.setMeta(c, patch)]),
  fc
    .tuple(name, name)
    .map(
      ([from, into]): Act => [
        `copy ${from} to ${into}`,
        (store) => store.import(store.export(from), { conversation: into }),
      ],
    ),
  fc.nat(9_000).map((ms): Act => [`wait ${ms}`, (_, clock) => clock.advance(ms)]),
)

/** All open gates, page by page. */
async function allGates(store: Store, conversation: string | undefined, limit: number) {
  const gates: Gate[] = []
  for (let pages = 0; pages < 1000; pages++) {
    const after = gates.at(-1)
    const page = await store.openGates(conversation, { limit, ...(after && { after }) })
    gates.push(...page)
    if (page.length < limit) break
  }
  return gates
}

const question: fc.Arbitrary<Act> = fc.oneof(
  filter.map((by): Act => [`find ${JSON.stringify(by)}`, (store) => findAll(store, by)]),
  filter.map((by): Act => [`count ${JSON.stringify(by)}`, (store) => store.count(by)]),
  fc.option(name, { nil: undefined }).map((c): Act => [`gates ${c}`, (s) => s.openGates(c)]),
  fc
    .tuple(fc.option(name, { nil: undefined }), fc.integer({ min: 1, max: 3 }))
    .map(([c, limit]): Act => [`gates ${c} by ${limit}`, (s) => allGates(s, c, limit)]),
  fc
    .option(name, { nil: undefined })
    .map((c): Act => [`digests ${c}`, (store) => collected(store.digests(c))]),
  fc
    .record({ after: name, limit: fc.integer({ min: 1, max: 3 }) })
    .map((page): Act => ['conversations', (store) => store.conversations(page)]),
  fc
    .record(
      {
        orderBy: fc.constantFrom('id', 'createdAt', 'updatedAt'),
        descending: fc.boolean(),
        topLevel: fc.boolean(),
        prefix: name,
        meta: fc.record({ kind: metaValue }),
      },
      { requiredKeys: [] },
    )
    .map((query): Act => [`listed ${JSON.stringify(query)}`, (s) => listed(s, query)]),
  fc
    .tuple(name, fc.integer({ min: 1, max: 6 }))
    .map(([c, from]): Act => [`entries ${c}`, (s) => collected(s.entries(c, { from }))]),
  fc
    .tuple(name, fc.integer({ min: 1, max: 3 }), fc.constantFrom(undefined, '3.0', '4.2', '9.0'))
    .map(
      ([conversation, limit, before]): Act => [
        `history ${conversation} ${limit} ${before}`,
        async (store) => {
          const page = await store.history({ conversation, limit, ...(before && { before }) })
          return JSON.stringify(page)
        },
      ],
    ),
  name.map((c): Act => [`verify ${c}`, (store) => store.verify({ conversation: c })]),
)

/** Asked at the end, whatever was done before. */
const ALL: readonly Act[] = [
  ['find', (store) => findAll(store, {})],
  ['gates', (store) => store.openGates()],
  ['digests', (store) => collected(store.digests())],
  ['conversations', (store) => store.conversations()],
]

/** What a store answers, or how it refuses. */
async function answer(act: () => unknown): Promise<unknown> {
  try {
    return await act()
  } catch (error) {
    if (!isBobbinError(error)) throw error
    const { code, message, data } = error
    return { code, message, data }
  }
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-same-store-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

it('answers and refuses alike in memory and on disk, whatever was done', {
  timeout: 60_000,
}, async () => {
  let played = 0
  const opened = (make: (options: Parameters<typeof memoryStore>[0]) => Store) => {
    const clock = testClock(0)
    const randomBytes = (length: number) => new Uint8Array(length).fill(3)
    return { clock, store: make({ clock, randomBytes }) }
  }
  const acts = fc.array(fc.oneof({ weight: 3, arbitrary: change }, question), {
    minLength: 20,
    maxLength: 60,
    size: 'max',
  })
  await fc.assert(
    fc.asyncProperty(acts, async (given) => {
      const path = join(folder, `${played++}.db`)
      const held = opened(memoryStore)
      const kept = opened((options) => sqliteStore(path, options))
      try {
        for (const c of NAMES) {
          for (const { store } of [held, kept]) await store.acquire(c, { owner: 'first' })
        }
        for (const [what, act] of [...given, ...ALL]) {
          const expected = await answer(() => act(held.store, held.clock))
          expect([what, await answer(() => act(kept.store, kept.clock))]).toEqual([what, expected])
        }
      } finally {
        await kept.store.close()
      }
    }),
    { numRuns: runs(40) },
  )
})
