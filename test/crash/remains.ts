import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolCall } from '../../src/records/tool-call.ts'
import type { Entry } from '../../src/store/entry.ts'
import type { Effect } from './effects-server.ts'
import { nameOf } from './kill-points.ts'
import { type StorePlace, storeAt } from './store-at.ts'

/** What is left of a case when a process has ended. */
export interface Remains {
  readonly entries: readonly Entry[]
  readonly calls: readonly ToolCall[]
  readonly effects: readonly Effect[]
  /** What a process that comes next can find out: see `CrashState`. */
  readonly state: CrashState
}

/**
 * What is durable and what happened, as far as it can matter to whoever goes on: every entry and effect by
 * name, and how often turns began in vain since the last one ended. How a call was settled does not
 * matter any more once it was.
 */
export interface CrashState {
  readonly facts: ReadonlySet<string>
  /** By conversation: the last end of a turn, and how many began since. */
  readonly turns: ReadonlyMap<string, { readonly end: string; readonly starts: number }>
}

export const NO_STATE: CrashState = { facts: new Set(), turns: new Map() }

/** A state as text: two that read the same cannot be told apart by any process. */
export function stateKey(state: CrashState): string {
  const starts = [...state.turns].map(([name, turn]) => `${name} +${Math.min(turn.starts, 2)}`)
  return [factsKey(state), ...starts].sort().join('; ')
}

/** The same, however many turns began in vain. */
export function factsKey({ facts, turns }: CrashState): string {
  const ends = [...turns].map(([name, { end, starts }]) => `${name}: ${starts > 0 ? 'open' : end}`)
  return [...facts, ...ends].sort().join('; ')
}

/** The state after one more thing came to pass: the label of a point behind it. */
export function stateAfter(state: CrashState, label: string): CrashState {
  const facts = new Set(state.facts)
  const turns = new Map(state.turns)
  const [, what = '', conversation = '', names = ''] =
    /^after (\w+)(?: (\S+))?(?: (.*))?$/.exec(label) ?? []
  if (what === 'acquire') facts.add(`made ${conversation}`)
  else if (what === 'decideGate') facts.add('decided')
  else if (what === 'write') facts.add('spooled')
  else if (what === 'handler') facts.add(`effect ${conversation}`)
  for (const name of what === 'append' ? names.split(',') : []) {
    const turn = turns.get(conversation) ?? { end: '', starts: 0 }
    if (name === 'turn-start') turns.set(conversation, { ...turn, starts: turn.starts + 1 })
    else if (name.startsWith('turn-end')) turns.set(conversation, { end: name, starts: 0 })
    else if (name !== 'note') facts.add(`${conversation} ${name}`)
  }
  return { facts, turns }
}

/** Reads what is left, without touching it: opening a database that was left open already mends it. */
export async function remainsOf(place: StorePlace, effects: readonly Effect[]): Promise<Remains> {
  const look = mkdtempSync(join(tmpdir(), 'bobbin-look-'))
  try {
    const copy = 'path' in place ? { path: join(look, 'copy.db') } : place
    if ('path' in place && 'path' in copy) copyDatabase(place.path, copy.path)
    return await read(copy, effects)
  } finally {
    rmSync(look, { recursive: true })
  }
}

/** Copies a SQLite store that nobody has open, as it lies there. */
export function copyDatabase(from: string, to: string): void {
  for (const part of ['', '-wal', '.spool']) {
    if (existsSync(from + part)) cpSync(from + part, to + part, { recursive: true })
  }
}

async function read(place: StorePlace, effects: readonly Effect[]): Promise<Remains> {
  const store = storeAt(place)
  const entries: Entry[] = []
  let state = NO_STATE
  for (const { id } of await store.conversations()) {
    state = stateAfter(state, `after acquire ${id}`)
    for await (const entry of store.entries(id)) {
      entries.push(entry)
      state = stateAfter(state, `after append ${id} ${nameOf(entry)}`)
    }
  }
  const isDecided = (await store.openGates()).some(({ decision }) => decision !== undefined)
  if (isDecided || state.facts.has('c gate-closed')) state = stateAfter(state, 'after decideGate')
  for (const { call } of effects) state = stateAfter(state, `after handler ${call}`)
  const { spool } = store
  if (spool === undefined) throw new Error('The store has lost its spool.')
  for await (const _ of spool.digests()) state = stateAfter(state, 'after write')
  const calls = entries.flatMap((entry) =>
    entry.kind === 'settlement' ? [ToolCall.fromJSON(entry.data, { spool })] : [],
  )
  await store.close()
  return { entries, calls, effects, state }
}
