import { describe, expect, it } from 'vitest'
import type { HistoryItem } from '../src/records/history-item.ts'
import type { Entry } from '../src/store/entry.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import {
  type ScriptedPart,
  type ScriptedStep,
  scriptedModel,
} from '../src/testing/scripted-model.ts'
import type { RunnerOptions } from '../src/turn/options/option-table.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { sampleTool } from './turn-samples.ts'

const long = (word: string) => `${word} `.repeat(40).trim()

/** A store that counts the entries that are read. The same plan gives the same log in each. */
function countingStore({ isReadWhole }: { readonly isReadWhole: boolean }) {
  let time = 1_700_000_000_000
  const clock = { now: () => time++ }
  const store = memoryStore({ clock, randomBytes: (length) => new Uint8Array(length).fill(7) })
  const counted = { entries: 0 }
  const counting: Store = {
    ...store,
    async *entries(conversation, options) {
      for await (const entry of store.entries(conversation, options)) {
        counted.entries++
        yield entry
      }
    },
    // Without a summary to begin at, a turn reads its log from the first entry on.
    find: async (query) =>
      isReadWhole && query.kind === 'summary' ? { entries: [] } : store.find(query),
  }
  return { store: counting, counted, clock }
}

type Side = ReturnType<typeof countingStore>

/** The runner of one process. */
function runnerOn(
  { store, clock }: Side,
  turn: number,
  steps: readonly (ScriptedStep | readonly ScriptedPart[])[],
  options: Pick<RunnerOptions, 'budget'> = {},
) {
  let made = 0
  const model = scriptedModel(steps)
  const stop = new AbortController()
  const runner = new TurnRunner({
    model,
    store,
    tools: [
      sampleTool('look', ({ q }) => long(`seen${q}`), { inline: true }),
      sampleTool('fetch', ({ q }) => `alpha\nbeta ${q}\ngamma`, { trust: 'third-party' }),
      sampleTool('later', () => long('later'), { background: true }),
      sampleTool('fail', () => Promise.reject(new Error('no'))),
      sampleTool('pay', ({ q }) => `paid ${q}`, { effect: 'write', approval: true }),
      sampleTool('send', () => (stop.abort(), new Promise<never>(() => {})), { effect: 'write' }),
    ],
    compact: { at: 1_200, keepTurns: 2, summarise: ({ items }) => `Summary of ${items.length}.` },
    testing: { clock, ids: () => `id-${turn}-${made++}` },
    ...options,
  })
  return { runner, model, signal: stop.signal }
}

/** What a turn asks for. Its model numbers its calls from zero in each response. */
function stepsOf(turn: number): (ScriptedStep | readonly ScriptedPart[])[] {
  const look = { call: 'look', id: 'call_0', args: { q: `${turn}` } }
  const answer = [{ text: long(`answer${turn}`) }]
  if (turn % 7 === 3)
    return [[look, { call: 'fetch', id: 'call_1', args: { q: `${turn}` } }], answer]
  if (turn % 7 === 4) {
    const grep = { callId: 'call_1', pattern: 'beta' }
    return [[look], [{ call: 'artifact_grep', id: 'call_0', args: grep }], answer]
  }
  if (turn % 7 === 5) return [[{ call: 'pay', id: 'call_0', args: { q: `${turn}` } }], answer]
  if (turn % 7 === 6) return [[look, { call: 'fail', id: 'call_1' }], [look], answer]
  if (turn % 14 === 9) return [[{ call: 'later', id: 'call_0' }, look], [look], answer, answer]
  if (turn % 14 === 2) return [[{ call: 'send', id: 'call_0' }, look], answer]
  return [[look], [{ thought: 'hm' }, { text: 'Wait.' }, look], answer]
}

/** One turn of the plan, in a process of its own. Gives what its models were asked, and how it ended. */
async function play(side: Side, turn: number, options: Pick<RunnerOptions, 'budget'>) {
  const steps = stepsOf(turn)
  const first = runnerOn(side, turn, steps, options)
  const message = long(`question${turn}`)
  const { signal } = first
  const isAgain = turn > 1 && (turn % 7 === 1 || turn % 7 === 0)
  const outcome = isAgain
    ? await first.runner.regenerate({ conversation: 'c', signal, redoEffects: true })
    : await first.runner.run({ conversation: 'c', message, signal })
  const asked = [...first.model.requests]
  const outcomes = [outcome]
  if (outcome.status === 'suspended') {
    const again = runnerOn(side, turn + 0.5, steps.slice(1), options)
    const [gate = { id: '' }] = outcome.gates
    const answer = turn % 2 === 0 ? { approve: true, args: { q: 'other' } } : { approve: true }
    const decisions = [{ gate: gate.id, decidedBy: 'ann', ...answer }]
    outcomes.push(await again.runner.resume({ conversation: 'c', decisions, signal: again.signal }))
    asked.push(...again.model.requests)
  }
  const plain = (items: readonly HistoryItem[]) => JSON.parse(JSON.stringify(items)) as unknown
  return {
    asked: asked.map(({ items, tools = [] }) => [plain(items), tools.map(({ name }) => name)]),
    ends: outcomes.map(({ status, text, toolCalls }) => [
      status,
      text,
      toolCalls.map(({ id }) => id),
    ]),
  }
}

async function logOf({ store }: Side): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of store.entries('c')) entries.push(entry)
  return entries
}

describe('a turn that begins behind a summary', () => {
  it.each([
    ['without a budget', {}],
    ['with a budget', { budget: { maxTokens: 1_300 } }],
  ])('asks, stores and answers as one that reads the whole log, %s', async (_, options) => {
    const [part, whole] = [
      countingStore({ isReadWhole: false }),
      countingStore({ isReadWhole: true }),
    ]
    for (let turn = 1; turn <= 30; turn++) {
      const [mine, theirs] = [await play(part, turn, options), await play(whole, turn, options)]
      expect({ turn, ...mine }).toEqual({ turn, ...theirs })
    }
    expect(await logOf(part)).toEqual(await logOf(whole))
    expect(await part.store.count({ conversation: 'c', kind: 'summary' })).toBeGreaterThan(4)
    expect(await part.store.verify({ conversation: 'c' })).toMatchObject({ ok: true })
    // Reading the log for the comparison counts on both sides.
    expect(part.counted.entries).toBeLessThan(whole.counted.entries / 2)
  })
})
