import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoopbackRequest } from '../../src/testing/loopback/loopback-exchange.ts'
import {
  type LoopbackProvider,
  loopbackProvider,
} from '../../src/testing/loopback/loopback-provider.ts'
import { wire } from '../../src/wire/index.ts'
import { copySchema, dropSchema, goneFrom } from '../postgres/copy-schema.ts'
import { type BundledProcess, bundledProcess, type ProcessLine } from './bundled-process.ts'
import { type EffectsServer, effectsServer } from './effects-server.ts'
import { copyDatabase, type Remains, remainsOf } from './remains.ts'
import { caseName, type RunnerTask } from './runner-task.ts'
import { nextExchange } from './scripted-turn.ts'
import type { StorePlace } from './store-at.ts'

/** One process of a case: what it was to do, what it told, what it left. */
export interface Life {
  readonly act: RunnerTask['act']
  readonly end: number | NodeJS.Signals | null
  readonly errors: string
  readonly lines: readonly ProcessLine[]
  readonly remains: Remains
}

/** A turn that processes work on, one after another; some of them are killed. */
export interface CrashCase {
  /** The names that the model knows it by: its own, and those of the cases that it goes on from. */
  readonly scopes: readonly string[]
  readonly place: StorePlace
  readonly lives: readonly Life[]
  /** What the next process is to do; nothing when the turn has come to its end. */
  readonly next: RunnerTask['act'] | undefined
  /** What the model was sent, request by request. */
  readonly requests: readonly LoopbackRequest[]
  /** Of the last life that told one. */
  readonly outcome: ProcessLine | undefined
}

/** Everything that cases share: a model, a world, a program, a folder. */
export interface CrashLab {
  begin(scope: string): CrashCase
  /** A case that goes on from a copy of what another one has left. */
  copy(played: CrashCase, scope: string): Promise<CrashCase>
  /** Has one process work on it, which dies at the given point; 0 lets it live. */
  live(played: CrashCase, killAt: number): Promise<CrashCase>
  /** Lets it come to its end. */
  finish(played: CrashCase): Promise<CrashCase>
  /** Runs a turn whose processes die at the given points, one after another, then lets it finish. */
  play(scope: string, killAt: readonly number[]): Promise<CrashCase>
  /** Deletes what it has left. */
  drop(played: CrashCase): Promise<void>
  close(): Promise<void>
}

/** More processes than any case needs: one that does not end is a finding, not a hang. */
const MAX_LIVES = 30

/** A laboratory in SQLite files of its own, or on a server. */
export async function crashLab(url?: string): Promise<CrashLab> {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-crash-'))
  const world = await effectsServer()
  const program = await bundledProcess('runner-process')
  const model = await loopbackProvider({
    api: 'openai-responses',
    exchanges: Array.from({ length: 100_000 }, () => nextExchange),
    validate: (payload) => wire('openai-responses').validate(payload),
  })
  const placeOf = (scope: string): StorePlace => {
    const path = join(folder, `${scope}.db`)
    if (url === undefined) return { path }
    const schema = `crash_${scope.replaceAll(/\W/g, '_')}`
    return { url: `${url}?application_name=${schema}`, schema, spool: path }
  }
  const lab: CrashLab = {
    begin: (scope) => ({
      scopes: [scope],
      place: placeOf(scope),
      lives: [],
      next: 'run',
      requests: [],
      outcome: undefined,
    }),
    async copy(played, scope) {
      const place = placeOf(scope)
      await copyPlace(played.place, place)
      world.copy(played.scopes.at(-1) ?? '', scope)
      return { ...played, place, scopes: [...played.scopes, scope] }
    },
    live: (played, killAt) => live({ world, program, model }, played, killAt),
    async finish(played) {
      let now = played
      while (now.next !== undefined && now.lives.length < MAX_LIVES) now = await lab.live(now, 0)
      return now
    },
    async play(scope, killAt) {
      let now = lab.begin(scope)
      for (const at of killAt) if (now.next !== undefined) now = await lab.live(now, at)
      return lab.finish(now)
    },
    async drop({ place }) {
      await dropPlace(place)
    },
    async close() {
      await model.close()
      await world.close()
      program.remove()
      await rm(folder, { recursive: true })
    },
  }
  return lab
}

interface Parts {
  readonly world: EffectsServer
  readonly program: BundledProcess
  readonly model: LoopbackProvider
}

async function live(
  { world, program, model }: Parts,
  played: CrashCase,
  killAt: number,
): Promise<CrashCase> {
  const { scopes, place, next: act = 'recover', lives } = played
  const scope = scopes.at(-1) ?? ''
  const where = { scope, place, modelUrl: model.url, effectsUrl: world.urlFor(scope) }
  const { end, lines, errors } = await program.start({ ...where, act, killAt } satisfies RunnerTask)
  if ('url' in place) await goneFrom(place.url.split('?')[0] ?? '', place.schema)
  const remains = await remainsOf(place, world.effects(scope))
  return {
    ...played,
    lives: [...lives, { act, end, lines, errors, remains }],
    next: nextAct(end, lines),
    outcome: lines.find(({ event }) => event === 'outcome') ?? played.outcome,
    requests: model.requests.filter(({ body }) => {
      const { instructions = '' } = body as { readonly instructions?: string }
      return scopes.some((each) => instructions.includes(caseName(each)))
    }),
  }
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

/** The points that a process has passed. */
export function pointsOf({ lines }: Life): readonly string[] {
  return (lines.find(({ event }) => event === 'points')?.['passed'] ?? []) as string[]
}

async function copyPlace(from: StorePlace, to: StorePlace): Promise<void> {
  if ('path' in from && 'path' in to) return copyDatabase(from.path, to.path)
  if ('path' in from || 'path' in to) throw new Error('A file is not copied to a server.')
  await copySchema(to.url, from.schema, to.schema)
  if (existsSync(from.spool)) await cp(from.spool, to.spool, { recursive: true })
}

async function dropPlace(place: StorePlace): Promise<void> {
  if ('url' in place) {
    await dropSchema(place.url, place.schema)
    await rm(place.spool, { recursive: true, force: true })
    return
  }
  for (const part of ['', '-wal', '-shm', '.spool']) {
    await rm(place.path + part, { recursive: true, force: true })
  }
}
