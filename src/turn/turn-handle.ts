import { type FeedSource, feedIteration } from '../store/feed/feed.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { chainEvents, turnEvents } from '../store/feed/follow-turn.ts'
import type { TurnOutcome } from './limits/outcome.ts'
import type { TurnControl } from './loop/open-turn.ts'

/**
 * A turn that was started: a promise of its outcome, and its part of the feed. Each iteration begins with the first event
 * of the turn. Leaving it early detaches and does not abort the turn.
 */
export interface TurnHandle<Output = unknown>
  extends Promise<TurnOutcome<Output>>,
    AsyncIterable<FeedEvent> {
  /** The same promise: an `async` function that returns a handle gives only its outcome. */
  readonly outcome: Promise<TurnOutcome<Output>>
  readonly turnId: string
  readonly conversation: string
  /** Ends the turn; its outcome is `aborted`. */
  abort(): void
}

/** A turn that is starting, as its handle sees it. */
export interface StartingTurn {
  readonly turnId: string
  readonly conversation: string
  readonly control: TurnControl
  /** Where its events come from; asked when the handle is iterated. */
  readonly source: () => FeedSource | Promise<FeedSource>
}

/** The handle of a turn whose outcome is under way. */
export function turnHandle<Output>(
  outcome: Promise<TurnOutcome<Output>>,
  { turnId, conversation, control, source }: StartingTurn,
): TurnHandle<Output> {
  const handle = {
    outcome,
    turnId,
    conversation,
    abort: () =>
      control.abort.abort(new DOMException('The turn was aborted by its handle.', 'AbortError')),
    [Symbol.asyncIterator]() {
      // A rejection surfaces in the iteration.
      outcome.catch(() => {})
      return feedIteration((signal) => iterate({ turnId, control, source }, outcome, signal))
    },
  }
  return Object.assign(outcome, handle)
}

async function* iterate(
  { turnId, control, source }: Omit<StartingTurn, 'conversation'>,
  outcome: Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent, void> {
  // A turn under a given id, or for a conversation that is busy, may be another one than this.
  if (control.whenFound !== undefined) {
    await Promise.race([control.whenFound, outcome.catch(() => undefined)])
  }
  if (signal.aborted) return
  const given = source()
  const from = given instanceof Promise ? await given : given
  const { openedAt, joined } = control
  const after = openedAt === undefined ? undefined : { seq: openedAt, n: 0 }
  if (joined !== undefined) yield* chainEvents(from, { ...joined, over: outcome }, signal)
  else yield* turnEvents(from, { turnId, after, over: outcome }, signal)
  if (!signal.aborted) await outcome
}
