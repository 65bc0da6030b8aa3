import { BobbinError } from '../../core/error/error.ts'
import { conversationId, memberOf } from '../rows/store-input.ts'
import type { RunnerStore } from '../store.ts'
import { invalidInput } from '../store-errors.ts'
import { requireStore } from './follow-conversation.ts'
import { liveFeed } from './live-feed.ts'
import { runningTurn } from './turn-chain.ts'

/** Which turn to stop. */
export interface StopInput {
  readonly conversation: string
  /** The turn that is meant, or any other of its chain; the one that runs now unless given. */
  readonly turnId?: string
}

/**
 * Asks the turn that holds a conversation to stop, in whatever process it runs. Resolves when the request is stored;
 * `undefined` means that nothing ran.
 */
export async function stopTurn(
  store: RunnerStore,
  input: StopInput,
): Promise<{ readonly turnId: string } | undefined> {
  requireStore(store)
  const { conversation, turnId } = memberOf(input, 'input')
  conversationId(conversation)
  if (turnId !== undefined && typeof turnId !== 'string') {
    throw invalidInput('turnId', 'must be the id of a turn, or be left out')
  }
  const running = await runningTurn(store, conversation)
  if (running === undefined) return undefined
  if (turnId !== undefined && !(await running.isOfChain(turnId))) return undefined
  const stopped = { turnId: running.turnId }
  const { writer } = liveFeed(store, conversation)
  // A request that is stored outlives this process and the one of the turn.
  if (store.feed !== undefined) await store.feed.stop(conversation, running.turnId)
  if (writer?.turnId === running.turnId) writer.stop()
  else if (store.feed === undefined) throw outOfReach(conversation)
  return stopped
}

function outOfReach(conversation: string): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = `The turn in \`${conversation}\` runs in another process, and this store cannot pass a stop on. Stop it there.`
  const detail = 'the store has no `feed`'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'other', detail })
}
