import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import type { EntryOf } from '../../store/entry.ts'
import type { FeedSource } from '../../store/feed/feed.ts'
import { followFeed } from '../../store/feed/follow.ts'
import type { Buses } from '../events/event-bus.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import type { TurnSeed } from '../loop/open-turn.ts'
import { runTurn } from '../loop/run-turn.ts'
import { NO_USAGE } from '../loop/turn-tally.ts'
import type { RunnerSettings } from '../options/runner-options.ts'
import { type StoredChain, storedChain, storedOutcome } from './stored-outcome.ts'

/** Where turns run, and their listeners. */
export interface SubmitScope {
  readonly settings: RunnerSettings
  readonly buses: Buses
  readonly source: FeedSource
}

/** Which turn to join, and where it begins in the log. */
interface JoinedTurn {
  readonly first: string
  readonly from: number
}

/**
 * Waits for a turn that was submitted before, in whatever process: gives the outcome of its last continuation, and recovers
 * what a dead process left.
 */
export async function joinTurn(
  scope: SubmitScope,
  { first, from }: JoinedTurn,
  seed: TurnSeed,
): Promise<TurnOutcome> {
  const { settings, buses, source } = scope
  const { conversation, control } = seed
  const left = new AbortController()
  const signals = [left.signal, ...(seed.signal ? [seed.signal] : [])]
  const signal = control ? AbortSignal.any([...signals, control.abort.signal]) : left.signal
  for (;;) {
    const chain = await storedChain(settings, conversation, first, from)
    const { end } = chain
    if (end !== undefined) {
      return storedOutcome(settings, conversation, { ...chain, end }, seed.output)
    }
    if (chain.isPast) return leftBehind(chain, conversation)
    const info = await settings.store.conversation(conversation)
    if (info?.holder === undefined && !source.live().isWriting) {
      const own = control && { control: { abort: control.abort, openedAt: undefined } }
      const again = { ...seed, turnId: settings.ids(), ...own }
      try {
        return await runTurn(settings, buses, again, { way: 'recover' })
      } catch (error) {
        if (!isBobbinError(error, 'E_CONVERSATION_BUSY')) throw error
      }
    }
    const after = info === undefined ? '0.0' : `${info.length}.0`
    for await (const _ of followFeed(source, { after }, signal));
    if (signal.aborted) return notWaited(seed)
  }
}

/** The outcome of a turn whose process died, in a conversation that continued without it. */
const leftBehind = ({ turnId, text }: StoredChain, conversation: string): TurnOutcome => ({
  status: 'failed',
  reason: {
    code: 'NOTHING_LEFT',
    message: 'The process of this turn died, and the conversation continued without it.',
  },
  ...{ text, toolCalls: [], usage: NO_USAGE, conversation, turnId, gates: [] },
})

/** The outcome for a caller who does not wait any longer. The turn itself continues, unless it runs under this handle. */
export const notWaited = ({ conversation, turnId }: TurnSeed): TurnOutcome => ({
  status: 'aborted',
  reason: { code: 'ABORTED', message: 'The turn was aborted by its signal.' },
  ...{ text: '', toolCalls: [], usage: NO_USAGE, conversation, turnId, gates: [] },
})

/** Refuses another input under the id of a turn that exists. */
export function requireSameInput(start: EntryOf<'turn-start'>, digest: string): void {
  const { turnId, data } = start
  if (data.digest !== undefined && data.digest !== digest) throw turnConflict(turnId)
}

/** Refuses another text under the id of a message that steered a turn. What redaction has changed cannot be compared. */
export function requireSameText(
  { data, redacted }: EntryOf<'message'>,
  { turnId, text }: { readonly turnId: string; readonly text: string },
): void {
  const { content = '' } = data
  if (redacted === undefined && content !== text) throw turnConflict(turnId)
}

function turnConflict(turnId: string): BobbinError<'E_TURN_CONFLICT'> {
  const message = `The turn \`${turnId}\` has another input. Give a new input a new \`turnId\`.`
  return new BobbinError('E_TURN_CONFLICT', message, { turnId })
}
