import { type DispatchEnd, SUSPENDED } from '../limits/outcome.ts'
import { backgroundNote } from '../log/fact.ts'
import { takeSteered } from './steer.ts'
import type { Turn } from './turn.ts'

/** Whether calls wait for a decision from outside. Those that run in the background do not. */
export function hasWaiting({ log, background }: Turn): boolean {
  background.throwFault()
  for (const id of log.state.open.keys()) if (!background.isRunning(id)) return true
  return false
}

/** Brings the results of background calls into the history, in the order in which they came. */
export async function showBackgroundResults({ log }: Turn): Promise<void> {
  const { unshown } = log.state
  if (unshown.size > 0) await log.commit([...unshown.values()].map(backgroundNote))
}

/**
 * Waits, after the model has answered, until the background calls have ended or the turn receives a message. Gives
 * `more` when the model is to be asked again, and an end when the turn cannot end with its answer.
 */
export async function awaitBackground(turn: Turn): Promise<'more' | DispatchEnd | undefined> {
  const { background, steering, interruption, log } = turn
  if (background.isIdle && log.state.unshown.size === 0) return undefined
  while (!background.isIdle && !interruption.signal.aborted) {
    if (await takeSteered(turn)) return 'more'
    await Promise.race([background.next(), steering.asked()])
  }
  await background.ended()
  if (interruption.signal.aborted) return interruption.end()
  return hasWaiting(turn) ? SUSPENDED : 'more'
}
