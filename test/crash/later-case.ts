import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryItem } from '../../src/records/history-item.ts'
import type { ToolCall } from '../../src/records/tool-call.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { type BundledProcess, bundledProcess, type ProcessEnd } from './bundled-process.ts'
import type { LaterTask } from './later-process.ts'
import { storeAt } from './store-at.ts'

const conversation = 'c'
/** More processes than any case needs. */
const MAX_LIVES = 8

/** Background calls and an undo whose processes are killed. */
export interface LaterLab {
  /** Kills the turn, or the undo after it, at a point, lets another process finish, and gives what was broken. */
  play(act: 'run' | 'undo', killAt: number): Promise<LaterCase>
  close(): void
}

export interface LaterCase {
  /** Where the process died; undefined when there is no such point. */
  readonly died: string | undefined
  readonly problems: readonly string[]
}

export async function laterLab(): Promise<LaterLab> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-later-'))
  const program = await bundledProcess('later-process')
  return {
    play: (act, killAt) => play(program, join(folder, `${act}-${killAt}.db`), act, killAt),
    close() {
      program.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function play(
  program: BundledProcess,
  path: string,
  act: 'run' | 'undo',
  killAt: number,
): Promise<LaterCase> {
  const lives: ProcessEnd[] = []
  const live = async (task: Omit<LaterTask, 'path'>) => {
    const life = await program.start({ ...task, path } satisfies LaterTask)
    lives.push(life)
    return life
  }
  if (act === 'undo') await live({ act: 'run', killAt: 0 })
  let life = await live({ act, killAt })
  const died = life.lines.find(({ event }) => event === 'dies')?.['label'] as string | undefined
  while (lives.length < MAX_LIVES && !isOver(life)) {
    const isLost = life.end !== 'SIGKILL'
    life = await live({ act: isLost ? 'run' : 'recover', killAt: 0 })
  }
  return { died, problems: await judge(path, lives, act) }
}

/** Whether nothing is left to do. A turn whose question was not stored is asked for again. */
function isOver({ end, lines }: ProcessEnd): boolean {
  const outcome = lines.find(({ event }) => event === 'outcome')
  return end === 0 && outcome?.['status'] === 'completed'
}

async function judge(
  path: string,
  lives: readonly ProcessEnd[],
  act: 'run' | 'undo',
): Promise<readonly string[]> {
  const problems = lives.flatMap(({ errors }) => (errors === '' ? [] : [errors]))
  const told = lives.flatMap(({ lines }) => lines)
  for (const { event, error } of told) if (event === 'error') problems.push(String(error))
  const effects = existsSync(`${path}.effects`)
    ? readFileSync(`${path}.effects`, 'utf8').trim().split('\n')
    : []
  const times = (what: string) => effects.filter((effect) => effect === what).length
  const store = storeAt({ path })
  try {
    const { faults } = await store.verify({ conversation })
    problems.push(...faults.map(({ message }) => message))
    const { items: history } = await store.history({ conversation })
    const records = history.filter((item): item is ToolCall => 'settlement' in item)
    for (const id of ['call_1', 'call_2', 'call_3']) {
      const count = records.filter((record) => record.id === id).length
      if (count !== 1) problems.push(`${id} has ${count} records`)
    }
    const died = lives.some(({ end }) => end === 'SIGKILL')
    for (const { id, tool, settlement, undoes } of records) {
      const what = undoes === undefined ? id : `undo of ${undoes}`
      const once = tool === 'charge' || undoes !== undefined
      if (once && times(what) > 1) problems.push(`${what} happened twice`)
      if (settlement === 'ok' && tool !== 'look' && times(what) === 0) {
        problems.push(`${what} is ok and did not happen`)
      }
      if (settlement !== 'in-doubt') continue
      if (!died || !once) problems.push(`${what} is in doubt without a reason`)
      const isTold = told.some((line) => line['code'] === 'IN_DOUBT' && line['toolCallId'] === id)
      if (!isTold) problems.push(`nobody was told of the doubt about ${what}`)
    }
    if (times('undo of call_1') > records.filter(({ undoes }) => undoes).length) {
      problems.push('an undo happened without a record')
    }
    problems.push(...shownOnce(await shownItems(store), act, records))
  } finally {
    await store.close()
  }
  return problems
}

/** What the model reads in the next turn. */
async function shownItems(store: ReturnType<typeof storeAt>): Promise<readonly HistoryItem[]> {
  let items: readonly HistoryItem[] = []
  const reader = new TurnRunner({
    store,
    executor: async (ctx) => {
      items = [...ctx.items]
      return { answer: 'read' }
    },
  })
  await reader.run({ conversation, message: 'And now?' })
  return items
}

/** Neither a receipt nor a result is missing or doubled, and every provider takes the history. */
function shownOnce(
  items: readonly HistoryItem[],
  act: 'run' | 'undo',
  records: readonly ToolCall[],
): readonly string[] {
  const problems: string[] = []
  for (const id of ['call_1', 'call_2']) {
    const receipts = items.filter(
      (item) => item.type === 'call' && item.background && item.id === id,
    )
    const results = items.filter((item) => 'resultOf' in item && item.resultOf === id)
    const undone = id === 'call_1' ? records.filter(({ undoes }) => undoes === id).length : 0
    if (receipts.length !== 1) problems.push(`${id} has ${receipts.length} receipts`)
    if (results.length !== 1 + undone) problems.push(`${id} has ${results.length} results`)
  }
  if (act === 'run' && records.some(({ undoes }) => undoes)) problems.push('something was undone')
  for (const { api } of providers) {
    const { encode, validate } = wire(api)
    for (const { message } of validate(encode(items))) problems.push(`${api}: ${message}`)
  }
  return problems
}
