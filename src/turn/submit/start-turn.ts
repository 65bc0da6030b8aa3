import type { TurnOutcome } from '../limits/outcome.ts'
import type { TurnSeed } from '../loop/open-turn.ts'
import { submitted, type Unspooled } from '../loop/queued-input.ts'
import { runTurn } from '../loop/run-turn.ts'
import type { TurnInput } from '../loop/turn-input.ts'
import { beginInput } from './begin-input.ts'
import type { SubmitScope } from './join-turn.ts'
import { startLeftRows, submitTurn } from './submit-turn.ts'

/** Starts the turn of `run` or `regenerate`. */
export async function startTurn(
  scope: SubmitScope,
  seed: TurnSeed,
  input: Unspooled & Pick<TurnInput, 'turnId' | 'whenBusy'>,
): Promise<TurnOutcome> {
  const { settings, buses } = scope
  const { turnId, whenBusy = 'refuse', message, attachments, regenerate } = input
  const { context } = seed
  const about = {
    message,
    ...(attachments && { attachments }),
    ...(context !== undefined && { context }),
    ...(regenerate && { regenerate }),
  }
  if (turnId !== undefined || whenBusy !== 'refuse') {
    return submitTurn(scope, { seed, input: await submitted(about, settings.spool), whenBusy })
  }
  await startDeadRows(scope, seed)
  const { plan, ...start } = beginInput(about)
  return runTurn(settings, buses, { ...seed, ...start }, plan)
}

/** Continues a turn after a crash, and then starts the queued turns that have no caller. */
export async function recoverTurn(scope: SubmitScope, seed: TurnSeed): Promise<TurnOutcome> {
  const outcome = await runTurn(scope.settings, scope.buses, seed, { way: 'recover' })
  if (outcome.status !== 'suspended') await startDeadRows(scope, seed)
  return outcome
}

/** Starts the messages at the head of the queue whose callers have died. If the store fails, they wait for the next turn. */
async function startDeadRows(scope: SubmitScope, seed: TurnSeed): Promise<void> {
  try {
    await startDead(scope, seed)
  } catch (error) {
    const { turnId, conversation } = seed
    scope.buses.observed.emit('error', { error, where: 'open' }, { turnId, conversation })
  }
}

async function startDead(scope: SubmitScope, seed: TurnSeed): Promise<void> {
  const { store, clock } = scope.settings
  const now = clock.now()
  const { queued = [] } = (await store.feed?.requests(seed.conversation, now)) ?? {}
  const alive = queued.findIndex(({ until }) => until > now)
  const dead = alive === -1 ? queued : queued.slice(0, alive)
  if (dead.length === 0) return
  const gates = await store.openGates(seed.conversation)
  if (gates.every(({ state }) => state === 'expired')) await startLeftRows(scope, dead, seed)
}
