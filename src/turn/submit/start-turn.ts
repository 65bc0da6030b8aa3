import type { TurnOutcome } from '../limits/outcome.ts'
import { addUserMessage } from '../loop/begin-turn.ts'
import type { TurnSeed } from '../loop/open-turn.ts'
import { inputDigest, submitted } from '../loop/queued-input.ts'
import { runTurn } from '../loop/run-turn.ts'
import type { Turn } from '../loop/turn.ts'
import type { TurnInput } from '../loop/turn-input.ts'
import type { SubmitScope } from './join-turn.ts'
import { startLeftRows, submitTurn } from './submit-turn.ts'

/** Starts the turn of `run`. */
export async function startTurn(
  scope: SubmitScope,
  seed: TurnSeed,
  input: TurnInput,
): Promise<TurnOutcome> {
  const { settings, buses } = scope
  const { turnId, whenBusy = 'refuse', attachments = [] } = input
  if (turnId !== undefined || whenBusy !== 'refuse') {
    const { context } = seed
    const about = await submitted({ ...input, context }, settings.spool)
    return submitTurn(scope, { seed, input: about, whenBusy })
  }
  await startDeadRows(scope, seed)
  const begin = (turn: Turn) => addUserMessage(turn, input)
  // The digests of attachments are known when they are stored, which is after the turn has begun.
  const startWith =
    attachments.length > 0
      ? undefined
      : async (key: Uint8Array) => ({
          digest: inputDigest(
            { message: input.message, attachments: [], context: seed.context },
            key,
          ),
        })
  const begun = startWith === undefined ? seed : { ...seed, startWith }
  return runTurn(settings, buses, begun, { way: 'run', begin })
}

/** Continues a turn after a crash, and then starts what waits behind it and has no caller. */
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
