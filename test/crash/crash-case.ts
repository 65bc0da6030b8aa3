import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolCall } from '../../src/records/tool-call.ts'
import type { Entry } from '../../src/store/entry.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import {
  type LoopbackProvider,
  type LoopbackRequest,
  loopbackProvider,
} from '../../src/testing/loopback-provider.ts'
import { wire } from '../../src/wire/index.ts'
import { type BundledProcess, bundledProcess, type ProcessLine } from './bundled-process.ts'
import { type Effect, type EffectsServer, effectsServer } from './effects-server.ts'
import { caseName, type RunnerTask } from './runner-task.ts'
import { nextExchange } from './scripted-turn.ts'

/** What is left of a conversation when a process has ended. */
export interface Remains {
  readonly entries: readonly Entry[]
  readonly calls: readonly ToolCall[]
  readonly effects: readonly Effect[]
}

/** One process of a case: what it was to do, what it told, what it left. */
export interface Life {
  readonly act: RunnerTask['act']
  readonly end: number | NodeJS.Signals | null
  readonly errors: string
  readonly lines: readonly ProcessLine[]
  readonly remains: Remains
}

export interface CrashCase {
  readonly lives: readonly Life[]
  readonly database: string
  /** What the model was sent, request by request. */
  readonly requests: readonly LoopbackRequest[]
  /** Of the last life that told one. */
  readonly outcome: ProcessLine | undefined
}

/** Everything that cases share: a model, a world, a program, a folder. */
export interface CrashLab {
  /** Runs a turn whose processes die at the given points, one after another, then lets it finish. */
  play(scope: string, killAt: readonly number[]): Promise<CrashCase>
  close(): Promise<void>
}

/** More processes than any case needs: one that does not end is a finding, not a hang. */
const MAX_LIVES = 30

export async function crashLab(): Promise<CrashLab> {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-crash-'))
  const world = await effectsServer()
  const program = await bundledProcess('runner-process')
  const model = await loopbackProvider({
    api: 'openai-responses',
    exchanges: Array.from({ length: 100_000 }, () => nextExchange),
    validate: (payload) => wire('openai-responses').validate(payload),
  })
  return {
    play: (scope, killAt) => play({ folder, world, program, model }, scope, killAt),
    async close() {
      await model.close()
      await world.close()
      program.remove()
      await rm(folder, { recursive: true })
    },
  }
}

interface Parts {
  readonly folder: string
  readonly world: EffectsServer
  readonly program: BundledProcess
  readonly model: LoopbackProvider
}

async function play(
  { folder, world, program, model }: Parts,
  scope: string,
  killAt: readonly number[],
): Promise<CrashCase> {
  const database = join(folder, `${scope}.db`)
  const place = { scope, database, modelUrl: model.url, effectsUrl: world.urlFor(scope) }
  const lives: Life[] = []
  let act: RunnerTask['act'] | undefined = 'run'
  let outcome: ProcessLine | undefined
  while (act !== undefined && lives.length < MAX_LIVES) {
    const task: RunnerTask = { ...place, act, killAt: killAt[lives.length] ?? 0 }
    const { end, lines, errors } = await program.start(task)
    const { entries, calls } = await remainsOf(database)
    lives.push({
      act,
      end,
      lines,
      errors,
      remains: { entries, calls, effects: world.effects(scope) },
    })
    outcome = lines.find(({ event }) => event === 'outcome') ?? outcome
    act = nextAct(end, lines)
  }
  const requests = model.requests.filter(({ body }) =>
    (body as { instructions?: string }).instructions?.includes(caseName(scope)),
  )
  return { lives, database, requests, outcome }
}

/** A dead process is recovered from, a suspended turn is answered, anything else is the end. */
function nextAct(end: Life['end'], lines: readonly ProcessLine[]): RunnerTask['act'] | undefined {
  if (end === 'SIGKILL') return 'recover'
  const outcome = lines.find(({ event }) => event === 'outcome')
  const { code } = (outcome?.['reason'] ?? {}) as { readonly code?: string }
  // Not even the question was durable, or nobody ever took the conversation: the caller asks again.
  if (code === 'NOTHING_LEFT' || code === 'NOT_FOUND') return 'run'
  return outcome?.['status'] === 'suspended' ? 'resume' : undefined
}

async function remainsOf(database: string): Promise<Omit<Remains, 'effects'>> {
  const store = sqliteStore(database)
  const entries: Entry[] = []
  for (const { id } of await store.conversations()) {
    for await (const entry of store.entries(id)) entries.push(entry)
  }
  const spool = store.spool
  if (spool === undefined) throw new Error('The SQLite store has lost its spool.')
  const context = { spool }
  const calls = entries.flatMap((entry) =>
    entry.kind === 'settlement' ? [ToolCall.fromJSON(entry.data, context)] : [],
  )
  await store.close()
  return { entries, calls }
}
