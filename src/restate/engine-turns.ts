import type { JsonObject } from '../core/json/json.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import type { RunnerStore } from '../store/store.ts'
import type { TurnOutcome } from '../turn/limits/outcome.ts'
import { queuedInput } from '../turn/loop/queued-input.ts'
import type { OutputRequest } from '../turn/loop/structured-output.ts'
import { settingsOf, type TurnRunner } from '../turn/turn-runner.ts'
import {
  type EngineRecover,
  type EngineRegenerate,
  type EngineResume,
  type EngineRun,
  type EngineUndo,
  isPassing,
} from './engine-messages.ts'

/** One start of a handler: the engine starts it again when its process died. */
export interface Attempt {
  readonly conversation: string
  /** False if an earlier start may have begun the work. */
  readonly isFirst: boolean
  /** How many entries the log had before the work began. */
  readonly length: number
}

/**
 * The turns of a runner under an engine that runs one handler for a conversation at a time. If a
 * process holds the conversation when a handler begins, the engine has replaced that process: the handler takes over.
 */
export function engineTurns<Context>(runner: TurnRunner<Context>) {
  const { store, spool } = settingsOf(runner)

  const recover = (conversation: string, output: JsonObject | undefined) =>
    runner.recover({ conversation, force: true, ...given(output) }).then(ended)

  return {
    async run({ conversation }: Attempt, { turnId, body, output }: EngineRun) {
      if (await isHeld(store, conversation)) await recover(conversation, output)
      const input = queuedInput({ turnId, body }, spool)
      const turn = { ...input, conversation, ...given(output) }
      return startedOver(turnId, (id) => runner.run({ ...turn, turnId: id } as never))
    },

    async resume({ conversation, isFirst }: Attempt, input: EngineResume) {
      const place = input.conversation ?? conversation
      let { decisions } = input
      if (!isFirst || (await isHeld(store, conversation))) {
        const outcome = await recover(conversation, input.output)
        if (!isFirst) {
          decisions = await undecided(store, place, decisions)
          if (decisions.length === 0) return outcome
        }
      }
      return ended(await runner.resume({ conversation: place, decisions, ...given(input.output) }))
    },

    async regenerate({ conversation }: Attempt, input: EngineRegenerate) {
      const { turnId, body, redoEffects, output } = input
      if (await isHeld(store, conversation)) await recover(conversation, output)
      const { message, ...about } = regenerated(body, spool)
      const turn = { ...about, conversation, ...given(output) }
      const redo = redoEffects === undefined ? {} : { redoEffects }
      const asked = message === '' ? {} : { message }
      const again = { ...turn, ...redo, ...asked }
      return startedOver(turnId, (id) => runner.regenerate({ ...again, turnId: id } as never))
    },

    async undo({ conversation, isFirst, length }: Attempt, input: EngineUndo) {
      const info = await store.conversation(conversation)
      // What an earlier start began is not begun again: an undo that may have happened is in doubt.
      const hasBegun = !isFirst && (info?.length ?? 0) > length
      if (hasBegun || info?.holder !== undefined) {
        const outcome = await recover(conversation, undefined)
        if (hasBegun) return outcome
      }
      return ended(await runner.undo({ ...input, conversation } as never))
    },

    recover: ({ conversation }: Attempt, { output }: EngineRecover) =>
      recover(conversation, output),

    /** Continues a turn whose gates expired unanswered; undefined without such a turn. */
    async expire({ conversation, isFirst }: Attempt): Promise<TurnOutcome | undefined> {
      const gates = await store.openGates(conversation)
      if (isFirst && gates.every(({ state }) => state !== 'expired')) return undefined
      if (!isFirst || (await isHeld(store, conversation))) return recover(conversation, undefined)
      return ended(await runner.resume({ conversation, decisions: [] }))
    },
  }
}

/** Like a queued input, but its message may be empty. */
function regenerated(body: string, spool: SpoolStore) {
  const row = rowOf(body)
  if (row.message !== '') return queuedInput({ turnId: '', body }, spool)
  const { message: _, ...about } = queuedInput(
    { turnId: '', body: JSON.stringify({ ...row, message: ' ' }) },
    spool,
  )
  return { ...about, message: '' }
}

/** Reads a row. A text that is not JSON counts as a row without a message, and is refused like one. */
function rowOf(body: string): { readonly message?: unknown } {
  try {
    return Object(JSON.parse(body)) as { readonly message?: unknown }
  } catch {
    return {}
  }
}

const given = (output: JsonObject | undefined) =>
  output === undefined ? {} : { output: output as OutputRequest }

const MAX_STARTS = 20

/**
 * Runs a turn until its message is stored. A process that died before that has left a turn without one, and its id is
 * taken: the next start has an id of its own, which is the same however often the handler is started.
 */
async function startedOver(
  turnId: string,
  start: (id: string) => Promise<TurnOutcome>,
): Promise<TurnOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = ended(await start(attempt === 1 ? turnId : `${turnId}~${attempt}`))
    const { status, reason } = outcome
    const isLost = status === 'stopped' && reason.code === 'NOTHING_LEFT'
    if (!isLost || attempt === MAX_STARTS) return outcome
  }
}

/** A turn that failed because the store was away has not ended: the engine tries it again. */
function ended(outcome: TurnOutcome): TurnOutcome {
  const { reason } = outcome
  if (
    reason?.code === 'STORE_FAILED' &&
    (reason.errorCode === undefined || isPassing(reason.errorCode))
  ) {
    throw new Error(reason.message)
  }
  return outcome
}

async function isHeld(store: RunnerStore, conversation: string): Promise<boolean> {
  return (await store.conversation(conversation))?.holder !== undefined
}

/** The decisions that an earlier start has not stored. */
async function undecided(
  store: RunnerStore,
  conversation: string,
  decisions: EngineResume['decisions'],
): Promise<EngineResume['decisions']> {
  const left = []
  for (const decision of decisions) {
    const gate = await store.gate(conversation, decision.gate)
    if (gate?.state === 'pending') left.push(decision)
  }
  return left
}
