import { addUserMessage } from '../loop/begin-turn.ts'
import type { TurnSeed } from '../loop/open-turn.ts'
import { inputDigest, type Unspooled } from '../loop/queued-input.ts'
import { requireRewindable, rewindTurn } from '../loop/rewind-turn.ts'
import type { TurnPlan } from '../loop/run-turn.ts'

/** How the turn of an input begins: what its first entry says, and what it commits before the model is asked. */
export function beginInput(
  input: Unspooled,
): Pick<TurnSeed, 'startWith' | 'keepsContext'> & { readonly plan: TurnPlan } {
  const { attachments = [], regenerate } = input
  // The digests of attachments are known when they are stored, which may be after the turn has begun.
  const isSpooled = attachments.every(({ digest }) => digest !== undefined)
  return {
    ...(regenerate && { keepsContext: true }),
    startWith: async (key, turn) => {
      if (regenerate !== undefined) await requireRewindable(turn, input)
      return isSpooled ? { digest: inputDigest({ ...input, attachments }, key) } : {}
    },
    plan: {
      way: 'run',
      begin: (turn) =>
        regenerate === undefined ? addUserMessage(turn, input) : rewindTurn(turn, input),
    },
  }
}
