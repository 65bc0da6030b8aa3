import type { HistoryItem } from '../../src/records/history-item.ts'
import type { Store } from '../../src/store/store.ts'
import type { SummaryRequest } from '../../src/turn/compact/compaction.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { sampleTool } from '../turn-samples.ts'

const padding = 'words and more words '.repeat(12)
const TURNS = 4
const CALLS = 9

const factsIn = (value: unknown) => [
  ...new Set(JSON.stringify(value).match(/[FG]\d+\./g) ?? ([] as string[])),
]

const WIRES = providers.map(({ api }) => wire(api, { secret: new Uint8Array(32) }))

interface Place {
  readonly store: Store
  /** Told wherever the process may die; it never returns in one that has died. */
  readonly pass: (label: string) => Promise<void> | void
  readonly problems: string[]
}

/** A runner whose last turn is long: it needs a summary when it begins, and others inside it. */
function runnerOf({ store, pass, problems }: Place): TurnRunner {
  const look = sampleTool('look', ({ q }) => `${q} ${padding}`)
  return new TurnRunner({
    store,
    tools: [look],
    compact: {
      at: 900,
      keepTurns: 1,
      summarise: async ({ items, previous }: SummaryRequest) => {
        await pass('before summary')
        const text = factsIn([previous, items]).join(' ')
        await pass('after summary')
        return text
      },
    },
    executor: async ({ items }) => {
      await pass('request')
      problems.push(...problemsOf(items))
      const facts = factsIn(items)
      const turn = facts.filter((one) => one.startsWith('F')).length
      const done = facts.filter((one) => one.startsWith('G')).length
      if (turn < TURNS || done === CALLS) return { answer: `${turn} is done. ${padding}` }
      return { calls: [{ tool: 'look', args: { q: `G${done + 1}.` } }] }
    },
  })
}

/** What is wrong with a request: an orphan, a protocol that does not take it, or a fact that it does not show. */
function problemsOf(items: readonly HistoryItem[]): readonly string[] {
  const each = WIRES[items.length % WIRES.length] as (typeof WIRES)[number]
  const violations = each.validate(each.encode(items)).map(({ message }) => message)
  const orphans = items.flatMap((item) => (item.type === 'call' && !item.result ? [item.id] : []))
  const facts = factsIn(items)
  const lost = ['F', 'G'].flatMap((kind) => {
    const numbers = facts.flatMap((one) =>
      one.startsWith(kind) ? Number.parseInt(one.slice(1)) : [],
    )
    return Array.from({ length: Math.max(0, ...numbers) }, (_, at) => `${kind}${at + 1}.`).filter(
      (one) => !facts.includes(one),
    )
  })
  const summaries = items.filter((item) => JSON.stringify(item).includes('role=\\"summary\\"'))
  return [
    ...violations,
    ...orphans.map((id) => `${id} has no result`),
    ...lost.map((one) => `${one} is lost`),
    ...(summaries.length > 1 ? ['There are two summaries.'] : []),
  ]
}

/** Plays the turns before the one that dies. */
export async function prepare(store: Store, problems: string[]): Promise<void> {
  const runner = runnerOf({ store, pass: () => {}, problems })
  for (let turn = 1; turn < TURNS; turn++) await ask(runner, turn)
}

const ask = (runner: TurnRunner, turn = TURNS) =>
  runner.run({ conversation: 'c', message: `F${turn}. ${padding}` })

/** The last turn, in a process that may die. */
export const lastTurn = (place: Place) => ask(runnerOf(place))

/** Recovers the turn in a process that lives, and says what is wrong with what it finds and leaves. */
export async function recovered(store: Store, problems: string[]): Promise<string[]> {
  const found = [...problems]
  const runner = runnerOf({ store, pass: () => {}, problems: found })
  let outcome = await runner.recover({ conversation: 'c', force: true })
  // Not even the question was stored: the caller asks again.
  if (!(await isAsked(store))) outcome = await ask(runner)
  const { items } = await store.history({ conversation: 'c', limit: 500 })
  if (outcome.status !== 'completed') found.push(`The outcome is ${JSON.stringify(outcome)}.`)
  const records = items.flatMap((item) => ('settlement' in item ? [item] : []))
  const done = records
    .filter(({ settlement }) => settlement === 'ok')
    .map(({ args }) => JSON.stringify(args['q']))
  const expected = Array.from({ length: CALLS }, (_, at) => `"G${at + 1}."`)
  if (done.join() !== expected.join()) found.push(`Done was ${done.join()}.`)
  const { ok, faults } = await store.verify({ conversation: 'c' })
  return ok ? found : [...found, ...faults.map(({ message }) => message)]
}

async function isAsked(store: Store): Promise<boolean> {
  const { items } = await store.history({ conversation: 'c', limit: 500 })
  return items.some((item) => 'role' in item && item.content?.text.startsWith(`F${TURNS}.`))
}

/** A store whose process dies at the point with this number, from 1: nothing of it goes on. */
export function dyingAt(store: Store, at: number) {
  const passed: string[] = []
  let die = () => {}
  const died = new Promise<void>((resolve) => {
    die = resolve
  })
  const pass = (label: string): Promise<void> => {
    passed.push(label)
    if (passed.length < at) return Promise.resolve()
    die()
    return new Promise<never>(() => {})
  }
  const around =
    <A extends unknown[], R>(name: string, ask_: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await pass(`before ${name}`)
      const result = await ask_(...args)
      await pass(`after ${name}`)
      return result
    }
  const mortal: Store = {
    ...store,
    append: async (...args) => {
      const name = args[2].map(({ kind }) => kind).join()
      return around(`append ${name}`, store.append.bind(store))(...args)
    },
    acquire: around('acquire', store.acquire.bind(store)),
    release: around('release', store.release.bind(store)),
  }
  return { mortal, died, pass, passed }
}
